"""What a user sees of a workflow: a line for each job, what is left, and what jobs have to say.

A logger plugin of Snakemake, chosen by `profiles/default`. On a terminal, the line of a running job ends with the last
line of its log, such as the update, the loss and the time left of a training. Elsewhere (in a file, in CI) a job has a
line when it starts and one when it ends; a dry run has Snakemake's own list of jobs. Snakemake's complete log stays in
its file.
"""

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

LIVE = "NMTCORE_LIVE"
"""The environment variable by which jobs know that their log is shown, so that they print nothing elsewhere."""

SPEAKING = {
    *("read_split", "score_tests", "score_gold", "score_comet", "summarise_seeds"),
    *("index_runs", "licence_table"),
}
"""Rules whose log is shown when a job ends: scores, what reading found, and files that are left out."""

SHOWN = "shown"
"""Set by the workflow in the extra fields of its own messages, which are always shown."""

TAIL = 2000
"""Bytes at the end of a log in which its last line is searched."""
LINES_OF_FAILURE = 10
"""Lines of a failed job's log that are shown."""

NO_NEWS = re.compile(r"RuleException:\s+CalledProcessError in file |Exiting because a job execution failed")
"""Messages of Snakemake about a failed job that say no more than the end of its log, which is shown."""

LEFT = re.compile(r"FileNotFoundError: .*\.snakemake/locks/")
"""The end of Snakemake's stack trace if the locks that it reads are those of another one that has just ended."""


@dataclass
class RunningJob:
    """A job that has started."""

    title: str
    rule: str
    logs: list[str]
    began: float = field(default_factory=time.monotonic)


class LogHandler(LogHandlerBase):
    """Shows the jobs."""

    def __post_init__(self) -> None:
        self._jobs: dict[int, RunningJob] = {}
        self._done = self._total = 0
        self._began = time.monotonic()
        self._reasons: dict[str, Counter[str]] = {}
        self._live: Any = None
        self._console: Any = None
        self._listing: Any = None
        self._interrupted = False
        self._stream = sys.stdout if self.common_settings.stdout else sys.stderr
        if self._stream.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            from rich.console import Console

            self._console = Console(file=self._stream, highlight=False, markup=False, emoji=False)
        elif self.common_settings.dryrun:
            from snakemake.logging import ColorizingTextHandler

            self._listing = ColorizingTextHandler(nocolor=True, stream=self._stream)
        os.environ[LIVE] = "1"

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record: LogRecord) -> None:
        """Show a record."""
        if LEFT.search(record.getMessage()):
            self._print("Another Snakemake has just ended in this folder: repeat the command.")
            return
        if self._listing is not None:
            self._listing.setFormatter(self.formatter)
            self._listing.emit(record)
            return
        try:
            self._show(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Stop drawing."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        super().close()

    def _show(self, record: LogRecord) -> None:
        match getattr(record, "event", None):
            case LogEvent.JOB_INFO if self.common_settings.dryrun:
                self._reasons.setdefault(_words(record.rule_name), Counter())[_cause(record.reason)] += 1
            case LogEvent.JOB_INFO:
                self._start(record)
            case LogEvent.JOB_FINISHED:
                self._finish(record.job_id)
            case LogEvent.JOB_ERROR if not self._interrupted:
                self._fail(record)
            case LogEvent.RUN_INFO if self.common_settings.dryrun:
                self._list_jobs(record.stats)
            case LogEvent.RUN_INFO:
                self._total = record.stats["total"]
            case LogEvent.PROGRESS:
                self._done, self._total = record.done, record.total
            case LogEvent.ERROR | None if not self._interrupted:
                self._say(record)

    def _say(self, record: LogRecord) -> None:
        """Print warnings and errors, the workflow's own messages, and those of Snakemake that end a run."""
        text = record.getMessage().strip()
        if text.startswith("Terminating processes on user request"):
            self._interrupted = True
            self._print("Interrupted: jobs save what they have. The same command goes on from there.")
        elif NO_NEWS.match(text):
            return
        elif record.levelno >= WARNING or hasattr(record, SHOWN) or text.startswith("Nothing to be done"):
            self._print(text)

    def _start(self, record: LogRecord) -> None:
        names = [str(value) for key, value in record.wildcards.items() if key != "root" and value]
        title = " ".join([_words(record.rule_name), *names])
        self._jobs[record.jobid] = RunningJob(title, record.rule_name, list(record.log))
        if self._console is None:
            self._print(f"{clock(time.monotonic() - self._began)}  start  {title}")
        elif self._live is None:
            from rich.live import Live

            self._live = Live(get_renderable=self._drawn, console=self._console, refresh_per_second=2, transient=True)
            self._live.start()

    def _finish(self, job_id: int) -> None:
        job = self._jobs.pop(job_id, None)
        if job is None:
            return
        now = time.monotonic()
        title = f"{job.title}  {clock(now - job.began)}"
        if self._console is None:
            self._done += 1
            title = f"{clock(now - self._began)}  end    {title}  ({self._done:,} of {self._total:,})"
        self._print(title, _lines(job.logs) if job.rule in SPEAKING else [])

    def _fail(self, record: LogRecord) -> None:
        job = self._jobs.pop(record.jobid, None)
        title = job.title if job else _words(record.rule_name)
        logs = [f"(log: {path})" for path in record.log]
        self._print(f"FAILED: {title}", [*_lines(record.log)[-LINES_OF_FAILURE:], *logs])

    def _print(self, title: str, lines: Iterable[str] = ()) -> None:
        """Print a line, and indented lines below it; on a terminal, above the lines of running jobs."""
        text = "\n".join([title, *(f"  {line}" for line in lines)])
        if self._console is None:
            print(text, file=self._stream, flush=True)
        else:
            self._console.print(text, soft_wrap=True)

    def _list_jobs(self, stats: dict[str, int]) -> None:
        """List the jobs of a dry run once they are known: how many of each rule, and what starts them."""
        if not self._reasons:
            return
        for rule, count in stats.items():
            causes = "; ".join(filter(None, self._reasons.get(_words(rule), ())))
            self._print(f"{count:6,}  {_words(rule)}  {causes}".rstrip())

    def _drawn(self) -> Any:
        """Return the lines of running jobs and of the whole, each cut to the width of the terminal."""
        from rich.console import Group
        from rich.text import Text

        now = time.monotonic()
        jobs = list(self._jobs.values())
        lines = [f"{job.title}  {clock(now - job.began)}  {_last_line(job.logs)}" for job in jobs]
        lines.append(f"{self._done:,} of {self._total:,} jobs done, {clock(now - self._began)}")
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines))


def clock(seconds: float) -> str:
    """Write a time as on a clock: 0:07, 12:30, 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _words(rule: str) -> str:
    return rule.replace("_", " ")


def _cause(reason: str) -> str:
    """Return what starts a job, unless its outputs are missing or another job makes its inputs."""
    usual = ("Missing output files", "Input files updated by another job")
    return "; ".join(part for part in map(str.strip, reason.split(";")) if not part.startswith(usual))


def _lines(logs: list[str]) -> list[str]:
    return [line for log in logs for line in _read(log) if line.strip()]


def _last_line(logs: list[str]) -> str:
    return next(iter(reversed(_lines(logs[:1]))), "").strip()


def _read(log: str) -> Iterator[str]:
    """Yield the last lines of a log; none if it is not there yet."""
    path = Path(log)
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            yield from file.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return
