"""A user's own data: files read again if they change, named if missing; and what `nmtcore new dataset` writes."""

import json
from itertools import islice

import pytest
from workflow.calling import make_workplace

from nmtcore.cli import main

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


def test_a_data_set_that_the_command_wrote_can_be_planned_and_run(empty, shared, capsys):
    """300 training pairs of Multi30k."""
    empty.train_briefly()
    text = empty.folder / "text"
    text.mkdir()
    for split, name, count in (("train", "train", 300), ("dev", "val", 40), ("test", "test_2016_flickr", 40)):
        for side in ("cs", "en"):
            with (shared / f"data/multi30k/{name}.{side}").open(encoding="utf-8", newline="\n") as file:
                (text / f"{split}.{side}").write_text("".join(islice(file, count)), encoding="utf-8")
    files = {split: [str(text / f"{split}.{side}") for side in ("cs", "en")] for split in ("train", "dev", "test")}
    options = [word for split, paths in files.items() for word in (f"--{split}", *paths)]
    folder = str(empty.folder)
    main(["new", "dataset", "captions", "--source", "cs", "--target", "en", *options, "--folder", folder])
    main(["check", "captions", "--folder", folder])
    assert "Nothing here would stop the workflow." in capsys.readouterr().out
    result = "results/smoke/captions/transformer_base.bleu"
    plan = empty.plan("results/smoke/captions/depparse_l1.bleu")
    assert "read_split" in plan.rules
    assert "models/stanza_cs/depparse.pt" in plan.output
    empty.run(result)
    scores = json.loads((empty.folder / result).read_text())
    assert {"test", "dev"} <= set(scores["splits"])
