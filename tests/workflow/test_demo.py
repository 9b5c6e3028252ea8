"""`nmtcore demo` from its first job to the table, at a small scale, and with a mistake in the configuration."""

import os
import subprocess
import sys

import pytest
import yaml
from forked_python import forked_python

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
    return subprocess.run(
        [python, "-m", "nmtcore.cli", "demo"],
        cwd=workplace.folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_the_demo_prints_a_line_per_stage_and_what_the_scores_mean(small):
    finished = demo(small, forked_python())  # it starts some thirty processes
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
    rules = {rule for rule in small.plan("--forceall", "demo").rules if rule != "demo"}
    assert {stage_name(rule, {"system": "s"}) for rule in rules} == {"prepare data", "train s", "translate", "score"}


def test_a_mistake_in_the_configuration_is_one_sentence(small):
    small.edit("scales/demo", decoding={"max_lenght": 3})
    finished = demo(small)
    assert finished.returncode == 2
    assert "max_lenght" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert "results/" not in finished.stdout
