"""Writes many different logs, made from testdata/cases with other program names, sizes and times."""
import datetime, pathlib, random, re


def make_batch(cases, folder, wanted):
    folder.mkdir(parents=True)
    chance = random.Random(1)  # a fixed seed gives the same batch
    logs = sorted(cases.glob("*/log"))
    begin = datetime.datetime(2026, 11, 18, 6, 0)
    for number in range(wanted):
        text = logs[number % len(logs)].read_text(errors="replace")
        text = re.sub(r"jit_(\w+)", lambda match: f"jit_{match[1]}_{number % 37}", text)
        # The whole GiB of "20.77G" identify a failure. All sizes change together, so that sums stay roughly right.
        text = re.sub(r"\b(\d+)\.(\d\d)G\b", lambda match: f"{match[1]}.{(int(match[2]) + number // len(logs)) % 100:02d}G", text)
        time = begin + datetime.timedelta(minutes=int(abs(chance.gauss(1500, 700))))
        lines = [f"{time:%Y-%m-%dT%H:%M:%S}Z {line}" for line in text.splitlines()]
        (folder / f"run-{number:04d}.log").write_text("\n".join(lines) + "\n")
