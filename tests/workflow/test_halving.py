"""The recipe of tran2018 on the demo corpus, from the first update to the end that its own schedule decides."""

import json
import re
from itertools import pairwise

import pytest

pytestmark = pytest.mark.needs("Snakemake")

RUN = "results/brief/demo_paper/nmt/seed1"
SCALE = {
    "description": "The schedule of the recipe for a small model and few sentences",
    "per_base": {"recurrent": {"model": {"width": 64}}},
    "training": {"validation": {"every": 10}, "checkpoint_every": 10},
    "segmentation_size": 500,
}
COUNTS = {"train": 12, "dev": 12, "test": 5}


def test_the_rate_is_halved_when_perplexity_rises_and_training_ends_after_five_times(empty):
    """Shipped scales replace a recipe's schedule; this one keeps it."""
    corpora = {split: {"options": {"count": count}} for split, count in COUNTS.items()}
    empty.write("datasets/demo_paper", {"extends": "demo_en2de", "corpora": corpora, "recipe": "tran2018"})
    empty.write("scales/brief", SCALE)
    empty.run(f"{RUN}/model")
    lines = [json.loads(line) for line in (empty.folder / RUN / "training.jsonl").read_text().splitlines()]
    perplexities = {line["update"]: line["validation"]["perplexity"] for line in lines if "validation" in line}
    assert list(perplexities) == list(range(10, max(perplexities) + 1, 10))

    rises = [new for (_, before), (new, after) in pairwise(perplexities.items()) if after > before]
    assert len(rises) == 5
    training = [line for line in lines if "validation" not in line]
    assert rises[-1] == training[-1]["update"] == max(perplexities)
    for line in training:
        assert line["rate"] == 1e-3 * 0.5 ** sum(update < line["update"] for update in rises)

    best = min(perplexities, key=perplexities.get)
    assert [line["update"] for line in lines if line.get("best")][-1] == best < rises[-1]
    (log,) = (empty.folder / "results/brief/logs").rglob("seed1.training.log")
    (end,) = re.findall(r"^Training ended after .*$", log.read_text(encoding="utf-8"), re.MULTILINE)
    assert end == f"Training ended after {rises[-1]} updates: the learning rate was lowered 5 times."
