"""What `whyoom try` concludes from the files of a module, without jax."""

import unittest
from types import SimpleNamespace
from unittest import mock

from whyoom import recompile


def topology(version: str, bounds: str) -> str:
    return f'platform_version: "{version}\\nBuilt on Jun 17 2026"\n  value: "{bounds}"\n'


def bounds(chips: bytes, hosts: bytes = b"\x08\x01\x10\x01\x18\x01") -> str:
    inner = b"\x2a" + bytes([len(chips)]) + chips + b"\x32" + bytes([len(hosts)]) + hosts
    return "".join(f"\\{byte:03o}" for byte in b"\x0a" + bytes([len(inner)]) + inner)


def options(ids: list[int]) -> str:
    devices = "".join(f"computation_devices {{ replica_device_ids: {one} }}\n" for one in ids)
    return f"num_replicas: 1\nnum_partitions: {len(ids)}\n{devices}"


def value(name: str, dims: list[int], result: "int | None" = None) -> recompile.Value:
    return {"name": name, "dtype": "f32", "dims": dims, "donated": False, "splits": None, "result": result}


class Topology(unittest.TestCase):
    FLAT = bounds(b"\x08\x02\x10\x02\x18\x01")  # 2x2x1 chips, one host
    HOSTS = bounds(b"\x08\x02\x10\x02\x18\x01", b"\x08\x02\x10\x04\x18\x01")

    def test_the_chip_decides_the_name(self) -> None:
        for version, expected in [
            ("TFRT TPU v5 lite", "v5e:2x2"),
            ("TFRT TPU v5", "v5p:2x2x1"),
            ("TFRT TPU v4", "v4:2x2x1"),
            ("TFRT TPU v6 lite", "v6e:2x2"),
            ("TFRT TPU7x", "tpu7x:2x2x1"),
            ("TFRT TPU 7x", "tpu7x:2x2x1"),
            ("megascale+TFRT TPU v5 lite", "v5e:2x2"),
        ]:
            with self.subTest(version):
                self.assertEqual(recompile.topology_name(topology(version, self.FLAT)), expected)

    def test_hosts_multiply_the_chips(self) -> None:
        self.assertEqual(recompile.topology_name(topology("TFRT TPU v5 lite", self.HOSTS)), "v5e:4x8")

    def test_what_is_missing_is_named(self) -> None:
        for text, problem in [("", "names no TPU"), (topology("TFRT TPU v4", "\\n\\000"), "shape of the slice")]:
            with self.assertRaisesRegex(recompile.Unsupported, problem):
                recompile.topology_name(text)


class Devices(unittest.TestCase):
    # libtpu numbers the devices of one slice from 0, and those of slice N of several from 100000 * N.
    def assigned(self, ids: list[int]) -> list[int]:
        def devices(name: str, slices: int) -> list[SimpleNamespace]:
            first = [0] if slices == 1 else [recompile.SLICE * (i + 1) for i in range(slices)]
            return [SimpleNamespace(id=start + i) for start in first for i in range(4)]

        with mock.patch.object(recompile, "topology_devices", devices):
            text = topology("TFRT TPU v5 lite", Topology.FLAT)
            build = recompile.dumped_build(text, options(ids))
            return [device.id for device in recompile.assigned_devices(build["topology"], build["devices"])]

    def test_the_order_of_the_dump_is_kept(self) -> None:
        self.assertEqual(self.assigned([0, 1, 3, 2]), [0, 1, 3, 2])

    def test_the_numbers_show_how_many_slices_there_are(self) -> None:
        ids = [100000, 100001, 100003, 100002, 200000, 200001, 200003, 200002]
        self.assertEqual(self.assigned(ids), ids)

    def test_the_count_shows_it_if_the_numbers_do_not(self) -> None:
        self.assertEqual(self.assigned(list(range(8))), [100000, 100001, 100002, 100003, 200000, 200001, 200002, 200003])

    def test_devices_that_the_topology_lacks_are_refused(self) -> None:
        with self.assertRaisesRegex(recompile.Unsupported, "3 devices"):
            self.assigned([0, 1, 700])


class Results(unittest.TestCase):
    def matches(self, arguments: list[recompile.Value], results: list[str]) -> "list[int | None]":
        recompile.match_results(arguments, [value(name, [8, 8]) for name in results])
        return [argument["result"] for argument in arguments]

    def test_shared_memory_decides_over_names(self) -> None:
        # The caller swaps the two: new['a'] is in the memory of old['b'].
        arguments = [value("old['a']", [8, 8], 1), value("old['b']", [8, 8], 0)]
        self.assertEqual(self.matches(arguments, ["result['a']", "result['b']"]), [1, 0])

    def test_arguments_of_one_path_have_one_result_each(self) -> None:
        arguments = [value("params['w']", [8, 8]), value("mu['w']", [8, 8]), value("nu['w']", [8, 8])]
        self.assertEqual(self.matches(arguments, ["result[0]['w']", "result[1]['w']"]), [0, 1, None])

    def test_a_path_may_begin_with_an_index(self) -> None:
        self.assertEqual(self.matches([value("layers[1]['w']", [8, 8])], ["result[0]['w']", "result[1]['w']"]), [1])

    def test_other_shapes_are_no_match(self) -> None:
        self.assertEqual(self.matches([value("params['w']", [8, 4])], ["result['w']"]), [None])


if __name__ == "__main__":
    unittest.main()
