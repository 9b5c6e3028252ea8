"""Wall seconds from calling `nmtcore` to its end: lowest, median and highest of some calls after a first one.

python benchmarks/startup.py [--model MODEL] [--repeats 20]      --model: also translate, parse and show a sentence
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

NMTCORE = Path(sys.executable).parent / "nmtcore"
SENTENCE = b"The cat sleeps.\n"


def main() -> None:
    """Time each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="the model/ folder of a run")
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parser.parse_args()
    commands = [["--help"], ["translate", "--help"], ["schema", "--help"]]
    if arguments.model is not None:
        commands += [[name, str(arguments.model), "--device", "cpu"] for name in ("translate", "parse", "show")]
    for command in commands:
        seconds = [seconds_of(command) for _ in range(arguments.repeats + 1)][1:]  # the first one fills caches
        lowest, median, highest = min(seconds), statistics.median(seconds), max(seconds)
        print(f"nmtcore {' '.join(command)}: {lowest:.3f} s, {median:.3f} s, {highest:.3f} s")


def seconds_of(command: list[str]) -> float:
    """Return the wall time of a process."""
    start = time.perf_counter()
    subprocess.run([NMTCORE, *command], input=SENTENCE, capture_output=True, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
