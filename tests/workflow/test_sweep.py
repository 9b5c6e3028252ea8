"""A sweep from the command to its table: dev chooses, and no other trial is translated on a test."""

import json
from statistics import fmean

import pytest
from called import call_nmtcore
from sacrebleu.metrics import CHRF

from nmtcore.files import read_lines
from nmtcore.tables.query import read_frame

pytestmark = pytest.mark.needs("Snakemake")

SETTINGS = ["scale=brief", "seeds=[1, 2]"]
TARGET = "results/tables/tried_grid.md"


def chrf(folder):
    translations, references = (read_lines(folder / f"{name}.txt") for name in ("translations", "references"))
    return CHRF().corpus_score(translations, [references]).score


def test_dev_chooses_and_the_choice_alone_is_translated_on_the_test(workplace):
    sweep = ["training.schedule.peak=1e-3,5e-1", "model.norm=pre,post", "--name", "tried", "--dataset", "little"]
    called = call_nmtcore("new", "sweep", "transformer_base", *sweep, "--folder", workplace.folder)
    assert called.code == 0, called.errors
    assert f"{TARGET} --config scale=small 'seeds=[1, 2]'" in called.output
    table = workplace.folder / "config/tables/tried.yaml"  # the models of this scale have no BLEU
    table.write_text(table.read_text(encoding="utf-8").replace("test/bleu", "test/chrf"), encoding="utf-8")
    workplace.run(TARGET, settings=SETTINGS)

    runs = workplace.folder / "results/brief/little"
    trials = {path.name: [path / f"seed{seed}/hypotheses" for seed in (1, 2)] for path in runs.glob("tried_*")}
    assert {folder.name for of_trial in trials.values() for run in of_trial for folder in run.iterdir()} == {"dev"}
    dev = {trial: [chrf(run / "dev") for run in of_trial] for trial, of_trial in trials.items()}
    best = max(dev, key=lambda trial: fmean(dev[trial]))
    assert len({fmean(scores) for scores in dev.values()}) == len(trials) == 4

    choice = runs / "choices/tried_grid"
    chosen = json.loads((choice / "choice.json").read_text(encoding="utf-8"))
    assert (chosen["choice"], chosen["dev"]) == (best, {trial: pytest.approx(scores) for trial, scores in dev.items()})
    rows = read_frame((workplace.folder / TARGET).with_suffix(".parquet")).rows
    assert {row["row"]: row["values"] for row in rows if row["item"] is None and row["test"] == "dev"} == chosen["dev"]
    assert [row["values"][0] for row in rows if row["item"]][::3] == [
        pytest.approx(fmean(map(fmean, dev.values()))), pytest.approx(best_of_four(list(map(fmean, dev.values()))))
    ]  # fmt: skip
    (test,) = (row for row in rows if row["test"] == "test")
    assert test["row"] == best
    assert test["values"] == pytest.approx([chrf(choice / f"seed{seed}/hypotheses/test") for seed in (1, 2)])
    assert test["low"] < fmean(test["values"]) < test["high"]

    assert "Nothing to be done" in workplace.plan(TARGET, settings=SETTINGS).output
    workplace.run(f"results/brief/little/{best}/seed1/hypotheses/test", settings=SETTINGS)
    usual, own = (folder / "hypotheses/test/translations.txt" for folder in (runs / best / "seed1", choice / "seed1"))
    assert own.read_bytes() == usual.read_bytes()


def best_of_four(scores):
    """The mean of the highest of four draws, each with the scores' frequencies."""
    return fmean(max(a, b, c, d) for a in scores for b in scores for c in scores for d in scores)
