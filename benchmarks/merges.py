"""CPU seconds for learning merges, ours (median of 6) and subword-nmt's, from the same words; merges must be equal.

python benchmarks/merges.py MERGES FILE...      raw text; the words of all files are counted together
"""

import argparse
import contextlib
import io
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from features import words_of
from subword_nmt.learn_bpe import learn_bpe

from nmtcore.segmentation.learn import learn_codes


def main() -> None:
    """Learn merges from the files that the command line names, by both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("merges", type=int)
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    words: Counter[str] = Counter()
    for file in arguments.files:
        words.update(words_of(file.read_text(encoding="utf-8")))
    times: list[float] = []
    for _ in range(3):
        codes = timed(times, lambda: learn_codes(words, arguments.merges))
    assert codes == timed(times, lambda: subword_nmt_codes(words, arguments.merges))
    for _ in range(3):
        timed(times, lambda: learn_codes(words, arguments.merges))
    bare = times.pop(3)
    ours = statistics.median(times)
    print(f"{len(words)} words, {codes.count(chr(10)) - 1} merges: {ours:.2f} s; {bare:.2f} s; {bare / ours:.1f}")


def subword_nmt_codes(words: Counter[str], merges: int) -> str:
    """Return the codes file that subword-nmt learns."""
    codes = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        learn_bpe([f"{word} {count}" for word, count in words.items()], codes, merges, is_dict=True)
    return codes.getvalue()


def timed(times: list[float], function: Callable[[], str]) -> str:
    """Call a function, add its CPU time to `times`, and return its result."""
    start = time.process_time()
    result = function()
    times.append(time.process_time() - start)
    return result


if __name__ == "__main__":
    main()
