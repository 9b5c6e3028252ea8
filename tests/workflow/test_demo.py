"""The demo from its first job to the text that it ends with, at a small scale; its clone and its installation."""

from dataclasses import replace

import pytest
import yaml
from demo_parts import part_of_demo
from workflow.calling import brief_smoke, copy_clone

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 60, "dev": 8, "test": 30}
SYSTEMS = ["transformer_base", "depparse_l1_light", "transformer_relative", "relative_tree_traversal"]


def test_the_demo_ends_with_its_scores_and_what_they_mean(root, empty):
    dataset = yaml.safe_load((root / "config/datasets/demo_en2de.yaml").read_text(encoding="utf-8"))
    for split, corpus in part_of_demo(empty.folder / "demo", **COUNTS).items():
        dataset["corpora"][split] |= corpus
    empty.write("datasets/demo_en2de", dataset)
    empty.write("scales/demo", brief_smoke())
    empty.run("demo")
    lines = (empty.folder / "results/demo.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in lines[1:5]] == SYSTEMS
    assert "source .venv/bin/activate" in lines
    (model,) = (line.removeprefix("MODEL=") for line in lines if line.startswith("MODEL="))
    assert (empty.folder / model).is_dir()


def test_a_clone_can_be_moved(root, empty, tmp_path):
    """What was read from its data stays as it is."""
    targets = [f"results/demo_en2de/corpus/{name}.parquet" for name in ("dev", "contrast_demo.contrasts")]
    before = replace(empty, snakefile=copy_clone(root, tmp_path / "clone"))
    assert "download" in before.run(*targets).rules
    (tmp_path / "clone").rename(tmp_path / "moved")
    moved = replace(empty, snakefile=tmp_path / "moved/Snakefile")
    assert "Nothing to be done" in moved.plan(*targets).output
    (empty.folder / targets[0]).unlink()
    assert moved.run(*targets).rules == {"filter_split"}
