"""Run campaigns of damaged and hostile input: `python tests/campaigns/run.py --cases 2000`.

A campaign makes a case from a number, its seed: it damages something that the project reads, uses it as a user would,
and says what came of it. All cases of a seed are equal on every machine.
"""

import argparse
import contextlib
import importlib
import io
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from nmtcore.errors import UserError, is_hidden  # noqa: E402

CAMPAIGNS = ("corpora", "bundles")
"""Modules of this folder, each with a function `attempt(random, folder)`."""
OUTCOMES = ("clean", "counted", "handled", "wrong", "traceback", "hang")
"""Input used as if it were whole, used with faults counted, refused by a sentence; and what must never happen."""
FAILURES = OUTCOMES[3:]
SECONDS = 120
"""A case that takes longer hangs, also on a busy machine."""
MEMORY = 2 << 30
"""The most bytes of memory that the process may have used."""
LONGEST_SENTENCE = 2_000
"""Characters of an error message, paths included."""


class WrongOutput(Exception):
    """Damaged input was taken for whole, and led to something else than what it says."""


class Result(NamedTuple):
    """What came of a case."""

    seed: int
    outcome: str
    detail: str = ""


class _TooSlow(BaseException):
    """Not an `Exception`, so that nothing handles it."""


def run_case(campaign: str, seed: int, folder: Path) -> Result:
    """Run one case in an empty folder."""
    module = importlib.import_module(f"campaigns.{campaign}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    signal.signal(signal.SIGALRM, _interrupt)
    signal.alarm(SECONDS)
    detail = ""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            outcome = module.attempt(random.Random(f"{campaign} {seed}"), folder)
    except UserError as error:
        outcome, detail = "handled", str(error)
        if len(detail) > LONGEST_SENTENCE or any(map(is_hidden, detail)):
            outcome = "wrong"
    except WrongOutput as error:
        outcome, detail = "wrong", str(error)
    except _TooSlow:
        outcome, detail = "hang", traceback.format_exc()
    except Exception:
        outcome, detail = "traceback", traceback.format_exc()
    finally:
        signal.alarm(0)
    return Result(seed, outcome, detail)


def _interrupt(*_: Any) -> None:
    raise _TooSlow


def run_campaign(campaign: str, count: int, *, first: int = 0) -> dict:
    """Run `count` cases from the seed `first` on; return the counts, the failures and the peak memory in bytes."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        results = [run_case(campaign, seed, Path(folder) / "case") for seed in range(first, first + count)]
    return {
        "counts": Counter(dict.fromkeys(OUTCOMES, 0)) + Counter(result.outcome for result in results),
        "failures": [result for result in results if result.outcome in FAILURES],
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the campaigns in turn and print a table; return 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=100, help="cases of each campaign")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", nargs="+", choices=CAMPAIGNS, default=CAMPAIGNS, help="campaigns to run")
    chosen = parser.parse_args(arguments)
    failed = False
    print("campaign".ljust(14), *(outcome.rjust(9) for outcome in OUTCOMES), "cases/s".rjust(9), "peak MB".rjust(9))
    for campaign in chosen.only:
        began = time.perf_counter()
        report = run_campaign(campaign, chosen.cases, first=chosen.first)
        rate = chosen.cases / (time.perf_counter() - began)
        counts = (str(report["counts"][outcome]).rjust(9) for outcome in OUTCOMES)
        print(campaign.ljust(14), *counts, f"{rate:9.1f}", f"{report['peak'] / 1e6:9.0f}", flush=True)
        for result in report["failures"]:
            print(
                f"  {result.outcome}: --only {campaign} --first {result.seed} --cases 1: {result.detail!a}", flush=True
            )
        failed |= bool(report["failures"]) or report["peak"] > MEMORY
    return int(failed)


if __name__ == "__main__":
    from campaigns import run  # the same module for all, whose exceptions are those of the campaigns

    sys.exit(run.main())
