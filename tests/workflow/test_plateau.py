"""The schedule of aycock2021 on the demo corpus: plateaus of greedy dev BLEU, from the first update to the floor."""

import json
import re

import pytest
from demo_parts import part_of_demo

pytestmark = pytest.mark.needs("Snakemake")

RUN = "results/brief/demo_paper/transformer_base/seed1"
PEAK, FACTOR, PATIENCE, FLOOR = 1e-2, 0.5, 2, 4e-3
SCALE = {
    "description": "The schedule of the recipe between higher rates and with less patience, for a small model",
    "per_base": {"transformer": {"model": {"width": 32, "feed_forward": 64, "decoder_layers": 1, "norm": "pre"}}},
    "training": {
        "schedule": {"peak": PEAK, "factor": FACTOR, "patience": PATIENCE, "floor": FLOOR},
        "batch": {"size": 512},
        "validation": {"every": 15},
        "checkpoint_every": 15,
    },
    "segmentation_size": 500,
}
COUNTS = {"train": 2000, "dev": 40, "test": 10}


def rates_after(scores: dict[int, float]) -> dict[int, float]:
    """Compute the rate after every validation from its BLEU, as the thesis's toolkit does."""
    rate, best, waited, rates = PEAK, -1.0, 0, {}
    for update, score in scores.items():
        best, waited = (score, 0) if score > best else (best, waited + 1)
        if waited > PATIENCE:
            rate, waited = rate * FACTOR, 0
        rates[update] = rate
    return rates


def test_the_rate_falls_to_its_floor_and_the_best_model_translates(empty):
    empty.write("datasets/demo_paper", {
        "extends": "demo_en2de", "recipe": "aycock2021",
        "corpora": part_of_demo(empty.folder / "demo", **COUNTS),
        "evaluation": {"text": "tokens", "tokenize": "none", "greedy_dev": True},
    })  # fmt: skip
    empty.write("scales/brief", SCALE)
    empty.run(f"{RUN}/scores.json")

    lines = [json.loads(line) for line in (empty.folder / RUN / "training.jsonl").read_text().splitlines()]
    scores = {line["update"]: line["validation"]["bleu"] for line in lines if "validation" in line}
    assert list(scores) == list(range(15, max(scores) + 1, 15))
    rates = rates_after(scores)
    assert list(rates.values())[-2] > FLOOR >= rates[max(scores)], "training ends when the rate reaches the floor"
    for line in lines:
        if "validation" not in line:
            earlier = [rate for update, rate in rates.items() if update < line["update"]]
            assert line["rate"] == pytest.approx(earlier[-1] if earlier else PEAK)
    (log,) = (empty.folder / "results/brief/logs").rglob("seed1.training.log")
    (end,) = re.findall(r"^Training ended after .*$", log.read_text(encoding="utf-8"), re.MULTILINE)
    assert end == f"Training ended after {max(scores)} updates: the learning rate reached its floor of {FLOOR:g}."

    best = max(scores, key=scores.get)
    assert scores[best] > scores[15]
    assert [line["update"] for line in lines if line.get("best")][-1] == best < max(scores)
    bleu = json.loads((empty.folder / RUN / "scores.json").read_text())["bleu"]
    assert list(bleu) == ["test", "dev", "dev.greedy"]
    assert bleu["dev.greedy"]["bleu"] == scores[best], "the kept model has the best greedy score"
    hypotheses = empty.folder / RUN / "hypotheses/dev"
    assert (hypotheses / "translations.txt").read_text() != (hypotheses / "greedy.txt").read_text()
    decoding = json.loads((empty.folder / RUN / "model/run.json").read_text())["decoding"]
    assert {key: decoding[key] for key in ("beam", "length_penalty", "alpha")} == {
        "beam": 5, "length_penalty": "gnmt", "alpha": 1.0,
    }  # fmt: skip
