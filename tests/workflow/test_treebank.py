"""Systems that start from another system's model and train on a treebank, and scores against gold trees."""

import json
import os

import pytest
from safetensors.torch import load_file
from workflow.calling import make_workplace, smoke, write_gilded

from nmtcore.files import read_json

pytestmark = pytest.mark.needs("Snakemake")

SYSTEMS = ["depparse_gold", "depparse_gold_only"]


@pytest.fixture(scope="module")
def scored(root, tmp_path_factory):
    """A working directory in which both systems have been trained and scored."""
    workplace = make_workplace(tmp_path_factory.mktemp("treebank"), root / "Snakefile")
    write_gilded(workplace)
    scale = smoke()
    scale["training"] |= {"max_updates": 20, "checkpoint_every": 5}
    scale["training"]["validation"]["every"] = 10
    workplace.write("scales/smoke", scale)
    targets = [f"results/smoke/gilded/{system}.{score}" for system in SYSTEMS for score in ("bleu", "gold.uas")]
    umask = os.umask(0o002)  # for test_all_files_have_the_rights_that_the_umask_gives
    output = workplace.run(*targets).output
    os.umask(umask)
    for system in SYSTEMS:
        run = f"results/smoke/gilded/{system}/seed1"
        gold = read_json(workplace.folder / run / "gold.json")["gold.uas"]["gold_hand"]
        heads, trees = (gold[method]["uas"] for method in ("argmax", "spanning_tree"))
        assert f"\n  {run} gold_hand: UAS {heads:.1f}, UAS of trees {trees:.1f} (4 sentences)\n" in output
    return workplace


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_loss_decreases_and_parses_are_compared_with_gold_trees(scored, system):
    run = scored.folder / f"results/smoke/gilded/{system}/seed1"
    lines = map(json.loads, (run / "training.jsonl").read_text().splitlines())
    training = [line for line in lines if "validation" not in line]
    assert training[-1]["update"] == 30
    assert training[-1]["loss/depparse"] < training[0]["loss/depparse"]
    assert (training[0]["tokens"] == 0) == (system == "depparse_gold_only")
    summary = read_json(scored.folder / f"results/smoke/gilded/{system}.gold.uas")
    assert list(summary["splits"]) == ["gold_hand"]
    gold = read_json(run / "gold.json")["gold.uas"]["gold_hand"]
    assert summary["splits"]["gold_hand"]["argmax"]["uas"]["values"] == [gold["argmax"]["uas"]]
    assert list(read_json(run / "scores.json")["uas"]) == ["test", "dev"]


def test_training_starts_from_the_weights_of_the_other_system(scored):
    """Training only on trees does not change the decoder."""
    first, last = (
        load_file(scored.folder / f"results/smoke/gilded/{system}/seed1/model/weights.safetensors")
        for system in ("depparse_l1", "depparse_gold_only")
    )
    assert first.keys() == last.keys()
    same = {name for name in first if first[name].equal(last[name])}
    assert {name for name in first if name.startswith("decoder.")} <= same
    assert {name for name in first if name.startswith("encoder.0.")} - same
    (description,) = (scored.folder / "results/smoke/gilded/depparse_gold_only/seed1/checkpoints").glob("*/run.json")
    data = read_json(description)["data"]
    assert "bundle.json" in data
    assert not [name for name in data if name.startswith("train.")]
