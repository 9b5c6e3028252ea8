"""What a user sees of a workflow: a line for each job, what is left, and what jobs have to say.

A logger plugin of Snakemake, chosen by `profiles/default`. On a terminal, below each running job is the last line of
its log, such as the update, the perplexity and the time left of a training. Elsewhere (in a file, in CI, in a notebook)
a job has a line when it starts, one when it ends, and in between one every ten minutes; a dry run has Snakemake's own
list of jobs, but not in a notebook. Snakemake's complete log stays in its file.
"""

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from logging import WARNING, LogRecord
from threading import Event, Thread
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

LIVE = "NMTCORE_LIVE"
"""The environment variable by which jobs know that their log is shown, so that they print nothing elsewhere."""

SPEAKING = {
    *("read_split", "score_tests", "score_gold", "score_metric", "summarise_seeds"),
    *("score_dev", "score_choice", "index_runs", "licence_table", "verify"),
}
"""Rules whose log is shown when a job ends: scores, what reading found, files that are left out or damaged."""

SHOWN = "shown"
"""Set by the workflow in the extra fields of its own messages, which are always shown."""

TAIL = 2000
"""Bytes at the end of a log in which its last line is searched."""
NOTEBOOK = "xterm-color"
"""What Jupyter's Python kernels set `TERM` to; commands of a cell have a terminal that cannot overwrite lines."""
LINES_OF_FAILURE = 10
"""Lines of a failed job's log that are shown."""
REPORTED_AFTER = 600
"""Seconds after which a running job has a further line where the output is no terminal."""

NO_NEWS = re.compile(
    r"RuleException:\s+CalledProcessError in file |Exiting because a job execution failed|"
    r"WorkflowError:\s+At least one job did not complete"
)
"""Messages of Snakemake about a failed job that say no more than the end of its log, which is shown."""


@dataclass
class RunningJob:
    """A job that has started."""

    title: str
    rule: str
    logs: list[str]
    began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        """Return the title and the time that the job has taken."""
        return f"{self.title}  {clock(time.monotonic() - self.began)}"


class LogHandler(LogHandlerBase):
    """Shows the jobs."""

    def __post_init__(self) -> None:
        self._jobs: dict[int, RunningJob] = {}
        self._done = self._total = 0
        self._failed: set[int] = set()
        self._began = time.monotonic()
        self._reasons: dict[str, Counter[str]] = {}
        self._live: Any = None
        self._console: Any = None
        self._listing: Any = None
        self._interrupted = False
        self._stream = sys.stdout if self.common_settings.stdout else sys.stderr
        terminal = os.environ.get("TERM", "dumb") if self._stream.isatty() else "dumb"
        if terminal != "dumb" and (terminal != NOTEBOOK or self.common_settings.dryrun):
            from rich.console import Console

            self._console = Console(file=self._stream, highlight=False, markup=False, emoji=False)
        elif self.common_settings.dryrun:
            from snakemake.logging import ColorizingTextHandler

            self._listing = ColorizingTextHandler(nocolor=True, stream=self._stream)
        self._ended = Event()
        if self._console is None:
            Thread(target=self._report_slow_jobs, daemon=True).start()
        os.environ[LIVE] = "1"

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record: LogRecord) -> None:
        """Show a record."""
        if self._listing is not None:
            self._listing.setFormatter(self.formatter)
            self._listing.emit(record)
            return
        try:
            self._show(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Stop drawing, and say how far the workflow came."""
        self._ended.set()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._total:
            failed = f", {len(self._failed):,} failed" if self._failed else ""
            self._print(f"{self._progress()}{failed}, {clock(time.monotonic() - self._began)}")
            self._total = 0  # Python closes handlers once more when it ends
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
        names = [
            f"{'of' if key == 'shards' else key} {value}" if value.isdigit() else value  # seed 1, shard 0 of 2
            for key, value in record.wildcards.items()
            if key != "root" and value
        ]
        title = " ".join([_words(record.rule_name), *names])
        self._jobs[record.jobid] = RunningJob(title, record.rule_name, list(record.log))
        if self._console is None:
            self._print_stamped("start", title)
        elif self._live is None:
            from rich.live import Live

            self._live = Live(get_renderable=self._drawn, console=self._console, refresh_per_second=2, transient=True)
            self._live.start()

    def _finish(self, job_id: int) -> None:
        job = self._jobs.pop(job_id, None)
        if job is None:
            return
        self._done += 1
        self._failed.discard(job_id)
        lines = _lines(job.logs) if job.rule in SPEAKING else []
        if self._console is None:
            self._print_stamped("end", f"{job}  ({self._progress()})", lines)
        else:
            self._print(str(job), lines)

    def _fail(self, record: LogRecord) -> None:
        self._failed.add(record.jobid)
        job = self._jobs.pop(record.jobid, None)
        title = job.title if job else _words(record.rule_name)
        logs = [f"(log: {path})" for path in record.log]
        self._print(f"FAILED: {title}", [*_lines(record.log)[-LINES_OF_FAILURE:], *logs])

    def _report_slow_jobs(self) -> None:
        while not self._ended.wait(REPORTED_AFTER):
            for job in list(self._jobs.values()):
                self._print_stamped("runs", str(job), _lines(job.logs)[-1:])

    def _print_stamped(self, state: str, title: str, lines: Iterable[str] = ()) -> None:
        self._print(f"{clock(time.monotonic() - self._began)}  {state:5}  {title}", lines)

    def _print(self, title: str, lines: Iterable[str] = ()) -> None:
        """Print a line, and indented lines below it; on a terminal, above running jobs."""
        text = "\n".join([title, *(f"  {line}" for line in lines)])
        if self._console is None:
            print(text, file=self._stream, flush=True)
        else:
            self._console.print(text, soft_wrap=True)

    def _progress(self) -> str:
        return f"{self._done:,} of {self._total:,} jobs done"

    def _list_jobs(self, stats: dict[str, int]) -> None:
        """List the jobs of a dry run once they are known: how many of each rule, and what starts them."""
        if not self._reasons:
            return
        for rule, count in stats.items():
            causes = "; ".join(filter(None, self._reasons.get(_words(rule), ())))
            self._print(f"{count:6,}  {_words(rule)}  {causes}".rstrip())

    def _drawn(self) -> Any:
        """Return two lines for each running job, as many as there is room for, and one for the whole."""
        from rich.console import Group
        from rich.text import Text

        jobs = list(self._jobs.values())
        lines = [line for job in jobs for line in (str(job), *(f"  {last}" for last in _lines(job.logs)[-1:]))]
        whole = f"{self._progress()}, {len(jobs):,} running, {clock(time.monotonic() - self._began)}"
        shown = [*lines[: self._console.height - 2], whole]
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in shown))


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


def _lines(logs: Iterable[str]) -> list[str]:
    """Return the lines at the end of logs that are not blank; none of a log that is not there yet."""
    lines: list[str] = []
    for log in logs:
        with suppress(OSError), open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - TAIL))
            lines += file.read().decode("utf-8", errors="replace").splitlines()
    return [line for line in lines if line.strip()]
