"""`nmtcore demo` from its first job to the table, at a small scale, and with a mistake in the configuration."""

import os
import shlex
import subprocess
import sys

import pytest
import yaml
from workflow.calling import FORKING

from nmtcore.console.demo_stages import stage_name

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 60, "dev": 8, "test": 30}


@pytest.fixture
def small(root, empty):
    """A working folder in which the demo is small."""
    dataset = yaml.safe_load((root / "config/datasets/demo_en2de.yaml").read_text(encoding="utf-8"))
    for split, count in COUNTS.items():
        dataset["corpora"][split]["options"]["count"] = count
    scale = yaml.safe_load((root / "config/scales/smoke.yaml").read_text(encoding="utf-8"))
    scale["training"] |= {"max_updates": 20, "validation": {"every": 20, "stop_after": None}}
    empty.write("datasets/demo_en2de", dataset)
    empty.write("scales/demo", scale)
    return empty


def demo(workplace, python=sys.executable):
    """Call the demo, which calls Snakemake by a program `python`."""
    code = f"import sys; sys.executable = {str(python)!r}; from nmtcore.cli import main; main(['demo'])"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=workplace.folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture
def forking(tmp_path):
    """A program that stands for `python -P -m snakemake`, and forks some thirty jobs."""
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nshift 3\nexec {shlex.join(FORKING)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def test_the_demo_prints_a_line_per_stage_and_what_the_scores_mean(small, forking, planner, monkeypatch):
    finished = demo(small, forking)
    assert finished.returncode == 0, finished.stderr
    logs, *lines = finished.stdout.splitlines()
    assert logs == "Logs: results/logs/demo.snakemake.log, results/logs, results/demo/logs"
    systems = ["transformer_base", "depparse_l1", "diagonalparse_l0"]
    names = {line.split(":")[0] for line in lines[: lines.index("")]}
    assert names == {"prepare data", *(f"train {system}" for system in systems), "translate", "score"}
    # With so few updates, translations may be empty, and sentences that say so come before the table.
    (header,) = (i for i, line in enumerate(lines) if line.split()[:2] == ["system", "BLEU"])
    assert [line.split()[0] for line in lines[header + 1 :][:3]] == systems
    assert "source .venv/bin/activate" in lines
    (model,) = (line.removeprefix("MODEL=") for line in lines if line.startswith("MODEL="))
    assert (small.folder / model).is_dir()
    again = demo(small)
    assert again.returncode == 0
    assert again.stdout.count("finished earlier") == len(names)
    assert again.stdout.split("\n\n", 1)[1] == finished.stdout.split("\n\n", 1)[1]
    monkeypatch.chdir(small.folder)
    rules = planner.rules_of("demo") - {"demo"}
    assert {stage_name(rule, {"system": "s"}) for rule in rules} == {"prepare data", "train s", "translate", "score"}


def test_a_mistake_in_the_configuration_is_one_sentence(small):
    small.edit("scales/demo", decoding={"max_lenght": 3})
    finished = demo(small)
    assert finished.returncode == 2
    assert "max_lenght" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert "results/" not in finished.stdout
