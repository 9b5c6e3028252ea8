"""A data set that `nmtcore new dataset` wrote: planned, and run through to its scores."""

import json
from itertools import islice

import pytest

from nmtcore.cli import main

pytestmark = pytest.mark.needs("Snakemake")

RESULT = "results/smoke/captions/transformer_base.bleu"


@pytest.fixture
def captions(empty, shared):
    """A working folder with the data set `captions`: 300 training pairs of Multi30k."""
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
    return empty


def test_the_written_data_set_can_be_planned_and_run(captions, capsys):
    main(["check", "captions", "--folder", str(captions.folder)])
    assert "Nothing here would stop the workflow." in capsys.readouterr().out
    plan = captions.plan("results/smoke/captions/depparse_l1.bleu")
    assert "read_split" in plan.rules
    assert "models/stanza_cs/depparse.pt" in plan.output
    captions.run(RESULT)
    scores = json.loads((captions.folder / RESULT).read_text())
    assert {"test", "dev"} <= set(scores["splits"])
