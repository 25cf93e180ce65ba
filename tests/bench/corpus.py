"""Generates the logs that run.py times. The same size always gives the same bytes, on every machine.

A log consists of blocks from a pool of synthetic training-job lines, all different. About once per MiB (or less often),
it contains the complete log of one of testdata/cases, including the cases that only look like failures.
"""

import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess

MIB = 1 << 20
POOL_BLOCKS = 128
BLOCK_BYTES = (
    128 << 10
)  # the pool has 16 MiB, more than the windows of gzip and zstd, so that repeated blocks do not compress better
SMALL_FILE_BYTES = 8 << 10
MOST_SMALL_FILES = 20000
SMALL_FILES_PER_REPORT = 100

MODULES = ["attention", "mlp", "embedder", "decoder", "layers", "router", "optimizer", "logits", "rope", "norm"]
WORDS = (
    "data shard reader prefetch queue worker replica mesh axis tensor slice epoch sampler tokenizer cache restore "
    "manifest bucket upload retry barrier heartbeat coordinator host device profile trace flush metric scalar"
).split()


class Writer:
    """Generates random words, numbers and times for lines. Each call of time() advances the clock a little."""

    def __init__(self, rng):
        self.rng = rng
        self.seconds = rng.randrange(86400)
        self.today = f"{1 + rng.randrange(28):02}"

    def n(self, limit):
        return self.rng.randrange(limit)

    def f(self, limit, digits=3):
        return f"{self.rng.random() * limit:.{digits}f}"

    def of(self, *choices):
        return self.rng.choice(choices)

    def word(self):
        return self.rng.choice(WORDS)

    def words(self, count):
        return " ".join(self.rng.sample(WORDS, count))

    def module(self):
        return self.rng.choice(MODULES)

    def time(self):
        self.seconds = (self.seconds + self.rng.random() * 0.8) % 86400
        whole = int(self.seconds)
        return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"

    def micros(self):
        return f"{int(self.seconds % 1 * 1e6):06}"


def step_line(w):
    return (
        f"completed step: {w.n(10**6)}, seconds: {w.f(9)}, TFLOP/s/device: {w.f(400)}, Tokens/s/device: {w.f(9000)}, "
        f"total_weights: {w.n(10**6)}, loss: {w.f(11)} [{w.time()}]"
    )


def python_line(w):
    level = w.of("INFO", "INFO", "INFO", "DEBUG", "WARNING")
    when = f"2026-11-{w.today} {w.time()},{w.micros()[:3]}"
    return f"{when} {level} trainer.{w.module()}: {w.words(4 + w.n(8))} {w.n(10**7)}"


def glog_line(w):
    place = f"{w.word()}_{w.word()}.cc:{w.n(2000)}"
    return (
        f"{w.of(*'IIIIW')}11{w.today} {w.time()}.{w.micros()} {w.n(10**5):7} {place}] {w.words(3 + w.n(6))} "
        f"0x{w.rng.getrandbits(48):012x} took {w.f(900, 2)}ms"
    )


def checkpoint_line(w):
    thread = w.of("MainThread", "async_save", "write_metadata")
    folder = f"gs://bucket/runs/{w.rng.getrandbits(40):010x}/checkpoints/{w.n(10**6)}"
    return (
        f"[process={w.n(256)}][thread={thread}] {w.time()}.{w.micros()} Wrote {w.n(9000)} array_metadata for step "
        f"{w.n(10**6)} to {folder} ({w.f(90, 2)} GiB in {w.f(60, 1)} s)"
    )


def json_line(w):
    return json.dumps(
        {
            "ts": f"2026-11-{w.today}T{w.time()}.{w.micros()}Z",
            "level": "info",
            "logger": w.module(),
            "step": w.n(10**6),
            "grad_norm": w.rng.random(),
            "message": w.words(5),
        }
    )


def config_line(w):
    value = w.of(w.n(1 << 20), w.f(1, 5), True, None, repr(w.word()), [w.n(64), w.n(64)])
    return f"Config param {w.word()}_{w.word()}: {value}"


def progress_line(w):
    done = w.n(100)
    times = f"{w.n(60):02}:{w.n(60):02}<{w.n(60):02}:{w.n(60):02}"
    return f"\rtraining:  {done:2}%|{'#' * (done // 5):20}| {w.n(10**5)}/{10**5} [{times}, {w.f(9, 2)}it/s]"


def warning_lines(w):
    place = f"/opt/venv/lib/python3.11/site-packages/{w.module()}/{w.word()}.py:{w.n(900)}"
    return f'{place}: UserWarning: {w.words(8)} is deprecated\n  warnings.warn("{w.word()}")'


def traceback_lines(w):
    lines = ["Traceback (most recent call last):"]
    for _ in range(2 + w.n(7)):
        lines.append(f'  File "/home/user/train/{w.module()}.py", line {w.n(900)}, in {w.word()}')
        lines.append(f"    return self.{w.word()}({w.word()}={w.n(99)})")
    lines.append(f"ConnectionResetError: [Errno 104] peer {w.n(256)}.{w.n(256)} went away, attempt {w.n(9)}")
    return "\n".join(lines)


def start_lines(w):
    """The lines that a job prints when it starts. The rules use some of these settings to diagnose a later error."""
    config = {
        "max_target_length": w.of(2048, 8192),
        "per_device_batch_size": w.of(1.0, 4.0),
        "ici_fsdp_parallelism": -1,
        "ici_tensor_parallelism": 1,
        "remat_policy": "full",
        "dtype": "bfloat16",
    }
    lines = [config_line(w) for _ in range(60)] + [f"Config param {name}: {value}" for name, value in config.items()]
    return "\n".join(sorted(lines))


# Healthy lines with the words of the messages.
NEAR_MISSES = [
    "step {0}: HBM in use 12.3 of 15.7 GiB, peak memory 14.2 GiB",
    "Allocated {0} bytes on TPU_0; memory is not fragmented",
    "allocator: allocate {0} bytes on device TPU_0, reuse was not possible",
    "memory_stats: {{'bytes_in_use': {0}, 'peak_bytes_in_use': 99123, 'bytes_limit': 16909336576}}",
    '{{"step": {0}, "batch_size": 32, "max_target_length": 2048, "memory_gib": 12.25}}',
    "epoch 3 batch {0} of 40000, memory reserved 12.1 GB, hbm utilization 81 %",
]

WEIGHTS = {
    step_line: 30,
    python_line: 22,
    glog_line: 20,
    checkpoint_line: 8,
    json_line: 8,
    config_line: 6,
    progress_line: 3,
    warning_lines: 2,
    traceback_lines: 1,
}


def make_block(rng, starts_job):
    writer = Writer(rng)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    parts = [start_lines(writer)] if starts_job else []
    size = 0
    while size < BLOCK_BYTES:
        parts.append(rng.choices(kinds, weights)[0](writer))
        size += len(parts[-1]) + 1
    return ("\n".join(parts) + "\n").encode()


class Corpus:
    """The files for one log size, in their own folder. Each file is generated when it is first requested."""

    def __init__(self, folder, cases, size):
        self.size = size
        self.small_file_count = max(200, min(MOST_SMALL_FILES, MOST_SMALL_FILES * size // (1 << 30)))
        self.reports = [path.read_bytes().rstrip(b"\n") + b"\n" for path in sorted(cases.glob("*/log"))]
        if not self.reports:
            raise SystemExit(f"run.py: no logs in {cases}")
        made_by = hashlib.sha256(pathlib.Path(__file__).read_bytes() + b"".join(self.reports)).hexdigest()[:12]
        self.folder = folder / f"{size // MIB}M-{made_by}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._pool = None

    def pool(self):
        if self._pool is None:
            rng = random.Random(20261120)
            self._pool = [make_block(rng, starts_job=number == 0) for number in range(POOL_BLOCKS)]
        return self._pool

    def _blocks(self, seed):
        """Yields the pool's blocks forever, in a new random order each time round."""
        rng = random.Random(seed)
        order = list(self.pool())
        while True:
            rng.shuffle(order)
            yield from order

    def _make(self, name, write):
        """Returns the path of a file or folder. If it is missing, creates it under another name and then renames it."""
        path = self.folder / name
        if not path.exists():
            half = self.folder / (name + ".part")
            if half.is_dir():
                shutil.rmtree(half)
            half.unlink(missing_ok=True)
            write(half)
            os.replace(half, path)
        return path

    def _write_log(self, path, size, spacing):
        """Writes a log with a report every `spacing` bytes; 0: without any."""
        written = count = 0
        with open(path, "wb") as out:
            for block in self._blocks(size):
                if written >= size:
                    return
                written += out.write(block)
                if spacing and written >= (count + 0.5) * spacing:
                    written += out.write(self.reports[count % len(self.reports)])
                    count += 1

    def plain(self, times=1):
        return self._make(f"plain-x{times}.log", lambda path: self._write_log(path, self.size * times, MIB))

    def few_reports(self):
        return self._make("few-reports.log", lambda path: self._write_log(path, self.size, 5 * MIB))

    def quiet(self):
        return self._make("quiet.log", lambda path: self._write_log(path, self.size, 0))

    def near_misses(self):
        def write(path):
            rng = random.Random(3)
            with open(path, "wb") as out:
                while out.tell() < self.size:
                    text = "\n".join(rng.choice(NEAR_MISSES).format(rng.randrange(10**6)) for _ in range(10**4))
                    out.write(text.encode() + b"\n")

        return self._make("near-misses.log", write)

    def empty(self):
        return self._make("empty.log", lambda path: path.touch())

    def one_line(self):
        """The path of a log with a single line, which has one error message in the middle."""

        def write(path):
            written = 0
            message = (
                b"RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 2.25G. That was not "
                b"possible. There are 1.62G free.; (0x0x0_HBM0) "
            )
            with open(path, "wb") as out:
                for block in self._blocks(1):
                    if written >= self.size:
                        break
                    if message and written >= self.size // 2:
                        written += out.write(message)
                        message = b""
                    written += out.write(block.replace(b"\n", b" ").replace(b"\r", b" "))
                out.write(b"\n")

        return self._make("one-line.log", write)

    def packed(self, suffix):
        commands = {
            ".gz": "gzip -c plain-x1.log",
            ".zst": "zstd -q -c plain-x1.log",
            ".xz": "xz -1 -c plain-x1.log",
            ".tar.gz": "tar --owner=0 --group=0 --mtime=@0 -cf - plain-x1.log | gzip -c",
        }
        self.plain()
        return self._make(
            "plain.log" + suffix,
            lambda path: subprocess.run(f"{commands[suffix]} > {path.name}", shell=True, check=True, cwd=self.folder),
        )

    def small_files(self):
        def write(folder):
            blocks, block, at = self._blocks(2), b"", 0
            for i in range(self.small_file_count):
                if at + SMALL_FILE_BYTES > len(block):
                    block, at = next(blocks), 0
                text = block[at : at + SMALL_FILE_BYTES] + b"\n"
                at += SMALL_FILE_BYTES
                if i % SMALL_FILES_PER_REPORT == 0:
                    text += self.reports[i // SMALL_FILES_PER_REPORT % len(self.reports)]
                path = folder / f"job-{i // 200:03}" / f"worker-{i % 200:03}.log"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)

        return self._make("small-files", write)
