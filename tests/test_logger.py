"""What the workflow's screen shows of Snakemake's records."""

import logging
import os
import re
import sys
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from nmtcore.job import log_is_shown
from snakemake_logger_plugin_nmtcore import LIVE, LogHandler


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name, value in {"TERM": "xterm", "COLUMNS": "80", "LINES": "24", LIVE: ""}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def screen(monkeypatch, capsys):
    """A function that shows records on a terminal and returns the text, without movements of the cursor."""

    def show(*records, dryrun=False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        handle(records, dryrun=dryrun)
        assert os.environ[LIVE] == "1"
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", capsys.readouterr().err)
        return re.sub(r"\b0:0\d", "0:00", shown)  # a busy machine needs seconds

    return show


def handle(records, *, dryrun=False):
    """Give records to a handler, and close it."""
    handler = LogHandler(SimpleNamespace(dryrun=dryrun, stdout=False), None)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for level, text, fields in records:
        handler.handle(logging.makeLogRecord({"levelno": level, "levelname": "INFO", "msg": text, **fields}))
    handler.close()


def message(text, level=logging.INFO, **fields):
    return level, text, fields


def started(number, rule="train_model", reason="", **wildcards):
    fields = {"jobid": number, "rule_name": rule, "wildcards": wildcards, "log": [f"{number}.log"], "reason": reason}
    return message("", event=LogEvent.JOB_INFO, **fields)


def finished(number):
    return message("", event=LogEvent.JOB_FINISHED, job_id=number)


def failed(number, rule="train_model"):
    fields = {"jobid": number, "rule_name": rule, "log": [f"{number}.log"]}
    return message("", logging.ERROR, event=LogEvent.JOB_ERROR, **fields)


def test_a_running_job_has_a_line_with_the_end_of_its_log(screen, tmp_path):
    (tmp_path / "1.log").write_text("Loading\nupdate 20 of 700, 2 min left\n")
    text = screen(
        message("", event=LogEvent.RUN_INFO, stats={"total": 7}),
        started(1, root="results/smoke", dataset="d", system="s", seed="1"),
        finished(1),
    )
    assert "train model d s seed 1  0:00\n  update 20 of 700, 2 min left\n0 of 7 jobs done, 1 running, 0:00" in text
    assert text.startswith("train model d s seed 1  0:00\ntrain model"), "a job that has ended keeps a line"
    assert text.endswith("1 of 7 jobs done, 0:00\n")


def test_a_notebook_has_a_line_for_each_start_and_end(screen, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-color")
    text = screen(message("", event=LogEvent.RUN_INFO, stats={"total": 7}), started(1), finished(1))
    ended = "0:00  end    train model  0:00  (1 of 7 jobs done)"
    assert text.splitlines() == ["0:00  start  train model", ended, "1 of 7 jobs done, 0:00"]


def test_a_failed_job_shows_the_end_of_its_log_and_where_that_is(screen, tmp_path):
    (tmp_path / "1.log").write_text("".join(f"line {number}\n" for number in range(30)))
    text = screen(
        message("", event=LogEvent.RUN_INFO, stats={"total": 2}),
        *(message("[odd] name", logging.WARNING), started(1), failed(1)),
        message("Exiting because a job execution failed.", logging.ERROR),
        message("WorkflowError:\nAt least one job did not complete successfully.", logging.ERROR),
    )
    assert "[odd] name" in text, "brackets are no markup"
    assert "FAILED: train model" in text
    assert "  line 19\n" not in text
    assert "  line 20\n" in text
    assert "  (log: 1.log)\n" in text
    assert "Exiting because" not in text
    assert "WorkflowError" not in text
    assert text.endswith("0 of 2 jobs done, 1 failed, 0:00\n")


def test_a_dry_run_counts_jobs_and_says_what_starts_them(screen):
    text = screen(
        message("", event=LogEvent.RUN_INFO, stats={"train_model": 2, "total": 2}),
        started(1, reason="Missing output files: a; Params have changed since last execution: x"),
        started(2, reason="Missing output files: a; Input files updated by another job: b"),
        message("", event=LogEvent.RUN_INFO, stats={"train_model": 2, "total": 2}),
        dryrun=True,
    )
    lines = text.splitlines()
    assert lines == ["     2  train model  Params have changed since last execution: x", "     2  total"]


STOP = message("Terminating processes on user request, this might take some time.")
STATUS = "RuleException:\nCalledProcessError in file \"a.smk\", line 3:\nCommand 'x' returned non-zero exit status 1."


@pytest.mark.parametrize(
    ("records", "lines"),
    [
        (
            [message("", event=LogEvent.RUN_INFO, stats={"total": 2}), started(1, "score_tests"), finished(1)],
            [
                *("0:00  start  score tests", "0:00  end    score tests  0:00  (1 of 2 jobs done)"),
                *("  line 1", "  line 2", "1 of 2 jobs done, 0:00"),
            ],
        ),
        (
            [started(1), failed(1), message(STATUS, logging.ERROR, event=LogEvent.ERROR)],
            ["0:00  start  train model", "FAILED: train model", "  line 1", "  line 2", "  (log: 1.log)"],
        ),
        (
            [STOP, failed(1), message("WorkflowError: a job did not complete", logging.ERROR)],
            ["Interrupted: jobs save what they have. The same command goes on from there."],
        ),
        (
            [
                *(message("Building DAG of jobs..."), message("Downloads: 3 files", shown=True)),
                *(message("[odd] name", logging.WARNING), message("Nothing to be done (all files are up to date).")),
            ],
            ["Downloads: 3 files", "[odd] name", "Nothing to be done (all files are up to date)."],
        ),
    ],
)
def test_without_a_terminal_jobs_have_plain_lines(records, lines, capsys, tmp_path):
    (tmp_path / "1.log").write_text("line 1\nline 2\n")
    handle(records)
    assert capsys.readouterr().err.splitlines() == lines
    assert log_is_shown()
