"""A user's own files in the workflow: read without a copy, tracked for changes, named if missing."""

import os

import pytest
import yaml
from workflow.calling import WORDS, make_workplace

from nmtcore.job import user_config_path

pytestmark = pytest.mark.needs("Snakemake")

TARGET = "results/mine/segmentation/bpe_joint_20"
OWN = """
description: "Sentences of my own"
source: en
target: de
corpora:
  train: {format: plain, files: {source: ../my/train.en, target: ../my/train.de}}
  dev: {format: plain, files: {source: ../my/dev.en, target: ../my/dev.de}}
splits: {train: train, dev: dev, test: dev}
segmentation: {kind: bpe, joint: true, size: 20}
recipe: small
"""
FILES = {f"{split}.{side}": (split, side) for split in ("train", "dev") for side in ("en", "de")}


def write_own(workplace, *, ending="yaml"):
    (workplace.folder / "my").mkdir()
    for name, (split, side) in FILES.items():
        words = list(WORDS) if side == "en" else list(WORDS.values())
        lines = [" ".join(words[(i * i + j) % len(words)] for j in range(3 + i % 4)) for i in range(40)]
        (workplace.folder / "my" / name).write_text("".join(f"{split} {line}\n" for line in lines), encoding="utf-8")
    path = workplace.folder / "config" / "datasets" / f"mine.{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(OWN, encoding="utf-8")


@pytest.fixture(scope="module")
def own(root, tmp_path_factory):
    """A working directory in which a segmentation has been learned from the training split."""
    directory = make_workplace(tmp_path_factory.mktemp("own"), root / "Snakefile")
    write_own(directory)
    directory.run(TARGET)
    return directory


def test_own_files_are_neither_copied_nor_downloaded(own):
    assert not (own.folder / "downloads").exists()
    plan = own.plan("data", settings=['datasets=["mine"]', 'systems=["transformer_base"]'])
    assert "learn_segmentation" not in plan.rules
    assert "To be fetched" not in plan.output
    assert "rule download:" not in plan.output
    assert f"{own.folder}/my/dev.en" in plan.output


def test_a_changed_file_is_read_again(own):
    """Not only a newer one, which Snakemake itself notices."""
    path = own.folder / "my/train.en"
    text, time = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
    for changed, age in ((text, 10**12), (text.replace("cat", "camel"), 0)):
        path.write_text(changed, encoding="utf-8")
        os.utime(path, ns=(time - age, time - age))
        planned = own.plan(TARGET)
        assert planned.rules == {"read_split", "filter_split", "learn_segmentation"}
        assert f"'{path}': '" in planned.output
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(time, time))
    assert own.plan(TARGET).rules == set()


def test_missing_files_are_named_while_planning(own):
    moved = (own.folder / "my").rename(own.folder / "away")
    try:
        plan = own.call("-n", "results/mine/corpus/dev.parquet")
        assert own.plan(TARGET).rules == set(), "finished results do not need the files"
    finally:
        moved.rename(own.folder / "my")
    assert plan.code == 1
    assert "config/datasets/mine.yaml: files are missing (a relative path starts at the config folder):" in plan.output
    for split in ("train", "dev"):
        for role, side in (("source", "en"), ("target", "de")):
            line = f"corpora.{split}: files.{role}: there is no file {own.folder}/my/{split}.{side}"
            assert plan.output.count(line) == 1


def test_yml_files_work_in_the_workflow(empty):
    write_own(empty, ending="yml")
    (empty.folder / "config/config.yml").write_text(yaml.safe_dump({"datasets": ["mine"], "systems": []}))
    plan = empty.plan("data")
    assert f"{empty.folder}/my/dev.en" in plan.output


def test_two_files_of_settings_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    for ending in ("yaml", "yml"):
        (tmp_path / f"config/config.{ending}").write_text("{}\n")
    sentence = "Error: config/config.yaml and config/config.yml have the same name: delete or rename one"
    with pytest.raises(SystemExit, match=sentence):
        user_config_path()
