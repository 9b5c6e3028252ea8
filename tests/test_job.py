"""What jobs write into their log, what they call, and links of the configuration."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_nvml import make_library

from nmtcore.config.corpora import WordsSettings
from nmtcore.gpus import JOBS_PER_GPU
from nmtcore.job import check_working_folder, job_arguments, job_settings, user_config_path
from nmtcore.layout import Layout

JOB = """
import os, sys
from types import SimpleNamespace
from nmtcore.job import job
gpu = int(sys.argv[1])
parts = {"input": [], "output": [], "params": {}, "rule": "x", "config": {}, "resources": {"gpu": gpu}}
with job(SimpleNamespace(log=["logs/a.log"], **parts)) as terminal:
    print("begins")
    print(os.environ.get("CUDA_VISIBLE_DEVICES", "ready"), file=terminal, flush=True)
    sys.stdin.readline()
    print("ends")
"""


def test_two_jobs_with_one_log_keep_all_lines(tmp_path):
    pipes = dict.fromkeys(("stdin", "stderr"), subprocess.PIPE)
    jobs = []
    for _ in range(2):
        jobs.append(subprocess.Popen([sys.executable, "-c", JOB, "0"], cwd=tmp_path, text=True, **pipes))
        assert jobs[-1].stderr.readline() == "ready\n"
    for process in jobs:
        process.communicate("\n", timeout=60)
        assert process.returncode == 0
    assert (tmp_path / "logs/a.log").read_text() == "begins\nbegins\nends\nends\n"


@pytest.mark.parametrize("logger", [{}, {"NMTCORE_LIVE": "1"}])
@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("print('x')", "The disk that holds /dev/full is full: free some space and start again.\n"),
        ("raise UserError('No.')", "No.\n"),
        ("1 / 0", "ZeroDivisionError: division by zero\n"),
    ],
)
def test_what_a_full_disk_keeps_out_of_the_log_is_on_the_terminal(statement, message, logger):
    code = f"""
from types import SimpleNamespace
from nmtcore.errors import UserError
from nmtcore.job import job
parts = {{"input": [], "output": [], "params": {{}}, "rule": "x", "config": {{}}, "resources": {{}}}}
with job(SimpleNamespace(log=["/dev/full"], **parts)):
    {statement}
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], check=False, env=os.environ | logger, stderr=subprocess.PIPE, text=True
    )
    assert ended.returncode
    assert ended.stderr.endswith(message)
    assert ended.stderr.count("Traceback") == ("1 / 0" in statement)


@pytest.mark.parametrize(
    ("slots", "variables", "visible"),
    [
        (1, {JOBS_PER_GPU: "2"}, "GPU-1-fake"),
        (1, {JOBS_PER_GPU: "2", "CUDA_VISIBLE_DEVICES": "2,0"}, "2"),
        (4, {JOBS_PER_GPU: "2"}, "GPU-1-fake,GPU-2-fake"),
        (4, {JOBS_PER_GPU: "2", "CUDA_VISIBLE_DEVICES": "2,1"}, "2,1"),
        (8, {JOBS_PER_GPU: "2"}, "ready"),
        (0, {JOBS_PER_GPU: "2"}, "ready"),
        (1, {}, "ready"),
    ],
)
def test_a_job_sees_only_the_gpus_of_its_slots(tmp_path, slots, variables, visible):
    """There are three, the first of which is full; four are too many. Without slots, an executor gives GPUs."""
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    environment |= {"LD_LIBRARY_PATH": str(make_library(tmp_path, 3, free_of_first=5)), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", JOB, str(slots)]
    called = subprocess.run(
        command, cwd=tmp_path, env=environment | variables, input="", capture_output=True, text=True, timeout=60
    )
    assert (called.returncode, called.stderr) == (0, f"{visible}\n")
    assert bool(list(tmp_path.glob("nmtcore-gpu-*"))) == (visible != "ready"), "jobs without slots leave no files"


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"config.yaml": "datasets: []\nscale: [\n"}, "config.yaml, line 3: not valid YAML ("),
        ({"config.yml": "- scale: smoke\n"}, "config.yml: expected keys and values, found a list."),
        ({"config.yaml": "# nothing yet\n"}, "config.yaml has no settings: write some, or delete it to use the"),
        (
            {"config.yaml": "a: 1\n", "config.yml": "a: 1\n"},
            "config.yaml and config/config.yml have the same name",
        ),
        ({"config.yaml": Path("nowhere")}, "config.yaml is a symbolic link that leads to no file: correct"),
        ({"config.yml": Path("config.yml")}, "config.yml is a symbolic link that leads to no file: correct"),
    ],
)
def test_a_broken_config_yaml_ends_planning(files, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert user_config_path() is None
    (tmp_path / "config").mkdir()
    for name, text in files.items():
        path = tmp_path / "config" / name
        path.symlink_to(text) if isinstance(text, Path) else path.write_text(text)
    with pytest.raises(SystemExit) as end:
        user_config_path()
    assert str(end.value).startswith(f"Error: config/{sentence}")


@dataclass
class Measured:
    """What a function may take as one."""

    split: str
    features: Path


def test_a_job_calls_a_function_with_what_its_parameters_name():
    def function(
        corpus: Path, parts: Sequence[Path], selection: Path | None, labels: Path | None, words: WordsSettings,
        names: Sequence[str], shard: int, side: str, downloads: Path, output: Path, report: Path,
        corpora: Mapping[str, Path], measured: Measured, other: int, threads: int, layout: Layout, more: int = 0,
    ): ...  # fmt: skip

    io = pytest.importorskip("snakemake.iocontainers")
    parts = {
        "input": {"corpus": "c", "parts": ["p"], "selection": [], "labels": ["l"], "corpora": ["c/a.x.y", "c/b.z"]},
        "params": {"words": {"kind": "mecab"}, "names": ["n"], "version": 1},
        "wildcards": {"shard": "3", "side": "source", "corpus": "of less weight than a file", "split": "test"},
        "output": {"first": "f", "report": "r"},
    }
    parts["input"]["features"] = ["f/dev", "f/test"]
    named = {part: io.Namedlist(fromdict=values) for part, values in parts.items()}
    job = SimpleNamespace(**named, config={"paths": {"downloads": "d"}}, threads=2)
    assert job_arguments(function, job, other=5) == {
        "corpus": Path("c"), "parts": [Path("p")], "selection": None, "labels": Path("l"),
        "words": WordsSettings(kind="mecab"), "names": ["n"], "shard": 3, "side": "source", "downloads": Path("d"),
        "output": Path("f"), "report": Path("r"), "corpora": {"a": Path("c/a.x.y"), "b": Path("c/b.z")},
        "measured": Measured("test", Path("f")), "other": 5, "threads": 2, "layout": job_settings(job).layout,
    }  # fmt: skip


def test_a_folder_that_cannot_be_written_ends_planning_with_a_sentence(tmp_path, monkeypatch):
    """Also if only Snakemake's own folder in it cannot be."""
    monkeypatch.chdir(tmp_path)
    check_working_folder()
    for closed in (Path(), Path(".snakemake")):
        monkeypatch.setattr("os.access", lambda path, mode, closed=closed: Path(path) != closed)
        with pytest.raises(SystemExit, match=f"^Error: The folder {tmp_path} cannot be written: work in another"):
            check_working_folder()
        Path(".snakemake").mkdir(exist_ok=True)
