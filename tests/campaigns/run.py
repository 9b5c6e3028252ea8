"""Run campaigns of damaged and hostile input: `python tests/campaigns/run.py --minutes 60`.

A campaign makes a case from a number, its seed: it damages something that the project reads, uses it as a user would,
and says what came of it. All cases of a seed are equal on every machine. Seeds that were tried are remembered in
`--state`, so that the next call goes on with new ones.
"""

import argparse
import importlib
import json
import math
import os
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
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from nmtcore.errors import UserError, is_hidden  # noqa: E402

CAMPAIGNS = (
    "corpora", "treebanks", "archives", "server", "configuration", "targets", "bundles", "texts", "commands",
    "disk", "kills", "intermediates", "stages",
)  # fmt: skip
"""Modules of this folder, each with a function `attempt(random, folder)`."""
OUTCOMES = ("clean", "counted", "handled", "wrong", "traceback", "hang", "crash")
"""Input used as if it were whole, used with faults counted, refused by a sentence; and what must never happen."""
FAILURES = OUTCOMES[3:]
SECONDS = 20
"""A case that takes longer on a processor hangs, unless its campaign has another limit."""
PATIENCE = 6
"""How many times as long it may take by the clock, on a busy machine."""
MEMORY = 2 << 30
"""The most bytes of memory that a process with cases may have used."""
CASES_PER_PROCESS = 25
SHOWN_FAILURES = 20
"""Failures of a campaign that are printed; all are counted."""
LONGEST_SENTENCE = 2_000
"""Characters of an error message, paths included."""


class WrongOutput(Exception):
    """Damaged input was taken for whole, and led to something else than what it says."""


class Result(NamedTuple):
    """What came of a case."""

    campaign: str
    seed: int
    outcome: str
    detail: str = ""
    seconds: float = 0.0


class _TooSlow(BaseException):
    """Not an `Exception`, so that nothing handles it."""


def run_case(campaign: str, seed: int, folder: Path) -> Result:
    """Run one case in an empty folder."""
    module = importlib.import_module(f"campaigns.{campaign}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.perf_counter()
    seconds = getattr(module, "SECONDS", SECONDS)
    timers = {signal.ITIMER_PROF: seconds, signal.ITIMER_REAL: PATIENCE * seconds}
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, _interrupt)
    for timer, limit in timers.items():
        signal.setitimer(timer, limit)
    detail = ""
    try:
        with warnings.catch_warnings():
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
        for timer in timers:
            signal.setitimer(timer, 0)
    return Result(campaign, seed, outcome, detail, time.perf_counter() - began)


def _interrupt(*_: Any) -> None:
    raise _TooSlow


def run_seeds(campaign: str, seeds: list[int], folder: Path, *, until: float = math.inf) -> tuple[list[Result], int]:
    """Run cases in a process of their own; return their results and the most memory that it used, in bytes.

    No case begins after the time `until` (of `time.perf_counter`).
    """
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, campaign, seeds, folder, until))
    process.start()
    sender.close()
    results, peak = [], 0
    try:
        while True:
            message = receiver.recv()
            if isinstance(message, int):
                peak = message
            else:
                results.append(message)
    except EOFError:
        process.join()
    if not peak:
        seed = seeds[min(len(results), len(seeds) - 1)]
        results.append(Result(campaign, seed, "crash", f"the process ended with status {process.exitcode}"))
    return results, peak


def _work(sender: Any, campaign: str, seeds: list[int], folder: Path, until: float) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(devnull, stream)
    for seed in seeds:
        if time.perf_counter() < until:
            sender.send(run_case(campaign, seed, folder))
    sender.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    sender.close()


def run_campaign(campaign: str, first: int, *, count: int | None = None, seconds: float | None = None) -> dict:
    """Run cases from the seed `first` on, `count` or for some seconds; return counts, failures and the peak memory."""
    _prepare(campaign)
    counts, failures, peak, seed = Counter(dict.fromkeys(OUTCOMES, 0)), [], 0, first
    began = time.perf_counter()
    until = math.inf if seconds is None else began + seconds
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        while (count is None or seed < first + count) and time.perf_counter() < until:
            size = CASES_PER_PROCESS if count is None else min(CASES_PER_PROCESS, first + count - seed)
            results, used = run_seeds(campaign, list(range(seed, seed + size)), Path(folder) / "case", until=until)
            for result in results:
                counts[result.outcome] += 1
                if result.outcome in FAILURES:
                    failures.append(result)
            peak = max(peak, used)
            seed += len(results)
    return {"first": first, "next": seed, "counts": dict(counts), "failures": failures, "peak": peak,
            "seconds": time.perf_counter() - began}  # fmt: skip


def _prepare(campaign: str) -> None:
    """Import a campaign, and make what all its cases need, once and before processes are forked."""
    module = importlib.import_module(f"campaigns.{campaign}")
    getattr(module, "prepare", lambda: None)()


def main(arguments: list[str] | None = None) -> int:
    """Run the campaigns in turn and print a table; return 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=2.0, help="time for all campaigns together")
    parser.add_argument("--only", nargs="+", choices=CAMPAIGNS, default=CAMPAIGNS, help="campaigns to run")
    parser.add_argument("--state", type=Path, default=Path("campaigns.json"), help="file that remembers the next seeds")
    parser.add_argument("--case", nargs=2, metavar=("CAMPAIGN", "SEED"), help="repeat one case, and show what it says")
    chosen = parser.parse_args(arguments)
    if chosen.case:
        _prepare(chosen.case[0])
        with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
            result = run_case(chosen.case[0], int(chosen.case[1]), Path(folder) / "case")
        print(
            f"{result.outcome} in {result.seconds:.1f} s\n{result.detail}".encode("utf-8", "backslashreplace").decode()
        )
        return int(result.outcome in FAILURES)
    seeds = json.loads(chosen.state.read_text()) if chosen.state.exists() else {}
    share, failed = 60 * chosen.minutes / len(chosen.only), False
    print("campaign".ljust(14), *(outcome.rjust(9) for outcome in OUTCOMES), "cases/s".rjust(9), "peak MB".rjust(9))
    for campaign in chosen.only:
        report = run_campaign(campaign, seeds.get(campaign, 0), seconds=share)
        seeds[campaign] = report["next"]
        chosen.state.write_text(json.dumps(seeds))
        rate = (report["next"] - report["first"]) / report["seconds"]
        counts = (str(report["counts"][outcome]).rjust(9) for outcome in OUTCOMES)
        print(campaign.ljust(14), *counts, f"{rate:9.1f}", f"{report['peak'] / 1e6:9.0f}", flush=True)
        for result in report["failures"][:SHOWN_FAILURES]:
            last = result.detail.strip().splitlines()[-1] if result.detail.strip() else ""
            print(f"  {result.outcome}: --case {campaign} {result.seed}: {last[:200]!a}", flush=True)
        failed |= bool(report["failures"]) or report["peak"] > MEMORY
    return int(failed)


if __name__ == "__main__":
    from campaigns import run  # the same module for all, whose exceptions are those of the campaigns

    sys.exit(run.main())
