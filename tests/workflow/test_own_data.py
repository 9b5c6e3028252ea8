"""A user's own data: files read again if they change, named if missing; and what `nmtcore new dataset` writes."""

import pytest
from workflow.calling import make_workplace

pytestmark = pytest.mark.needs("Snakemake")

TARGET = "results/mine/corpus/train.parquet"
FILES = {split: {side: f"../my/{split}.{side}" for side in ("source", "target")} for split in ("train", "dev")}
OWN = {
    "description": "Sentences of my own",
    **{"source": "en", "target": "de"},
    "corpora": {split: {"format": "plain", "files": files} for split, files in FILES.items()},
    "splits": {"train": "train", "dev": "dev", "test": "dev"},
    "segmentation": {"kind": "bpe", "joint": True, "size": 20},
    "recipe": "small",
}


@pytest.fixture(scope="module")
def own(root, tmp_path_factory):
    """A working directory, with settings in config.yml, in which the training split has been read."""
    directory = make_workplace(tmp_path_factory.mktemp("own"), root / "Snakefile")
    (directory.folder / "my").mkdir()
    for split, files in FILES.items():
        for side in files:
            text = "".join(f"{split} the cat {number}\n" for number in range(9))
            (directory.folder / f"my/{split}.{side}").write_text(text, encoding="utf-8")
    path = directory.write("datasets/mine", OWN)
    path.rename(path.with_suffix(".yml"))
    path = directory.write("config", {"datasets": ["mine"], "systems": []})
    path.rename(path.with_suffix(".yml"))
    directory.run(TARGET)
    return directory


def test_missing_files_are_named_while_planning(own):
    assert "learn_segmentation" in own.plan("data").rules, "of the data set in config.yml"
    moved = (own.folder / "my").rename(own.folder / "away")
    try:
        plan = own.call("-n", "results/mine/corpus/dev.parquet")
        assert own.plan(TARGET).rules == set(), "finished results do not need the files"
    finally:
        moved.rename(own.folder / "my")
    assert plan.code == 1
    assert "config/datasets/mine.yml: files are missing (a relative path starts at the config folder):" in plan.output
    for split, files in FILES.items():
        for side in files:
            line = f"corpora.{split}: files.{side}: there is no file my/{split}.{side}"
            assert plan.output.count(line) == 1
