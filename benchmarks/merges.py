"""CPU seconds for learning merges, ours and subword-nmt's, from the same words; the merges must be equal.

python benchmarks/merges.py MERGES FILE...      raw text; the words of all files are counted together
"""

import argparse
import contextlib
import io
import time
from collections import Counter
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
    codes = io.StringIO()
    times = [time.process_time()]
    ours = learn_codes(words, arguments.merges)
    times.append(time.process_time())
    with contextlib.redirect_stderr(io.StringIO()):
        learn_bpe([f"{word} {count}" for word, count in words.items()], codes, arguments.merges, is_dict=True)
    times.append(time.process_time())
    assert ours == codes.getvalue()
    first, second = times[1] - times[0], times[2] - times[1]
    print(f"{len(words)} words, {ours.count(chr(10)) - 1} merges: {first:.2f} s; {second:.2f} s; {second / first:.1f}")


if __name__ == "__main__":
    main()
