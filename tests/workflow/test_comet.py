"""COMET, from translations to a summary; a stand-in takes the place of its package, which the tests do not install."""

import os
import sys

import pytest

from nmtcore.evaluation.counts import checksum_of_test, read_counts
from nmtcore.files import read_json, read_lines
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

STAND_IN = """
from pathlib import Path
from types import SimpleNamespace

__version__ = "0.stand-in"


class Model:
    def predict(
        self, samples, batch_size=16, gpus=1, devices=None, mc_dropout=0, progress_bar=True, accelerator="auto",
        num_workers=None, length_batching=True,
    ):
        assert (batch_size, gpus, accelerator) == (4, 0, "cpu")
        assert all(set(sample) == {"src", "mt", "ref"} for sample in samples)
        scores = [(len(s["src"]) + 2 * len(s["mt"]) + 3 * len(s["ref"])) / 1000 for s in samples]
        return SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))


def load_from_checkpoint(checkpoint_path, reload_hparams=False, strict=False, local_files_only=False):
    if not local_files_only or Path(checkpoint_path).read_text() != "weights":
        raise OSError("no such weights")
    return Model()
"""
"""The calls that unbabel-comet 2.2.7 offers, with its parameters and their defaults; scores are made of lengths."""

TARGET = "results/brief/little/transformer_base.comet"
SETTINGS = ["seeds=[1, 2]", "models=[models]"]
COMMAND = "python {repository}/workflow/scripts/run_comet.py {model} --device {device} --batch 4"


def write_comet(workplace, **settings):
    """Let COMET run in the environment of this Python, with a batch of four sentences."""
    workplace.write("metrics/comet", {"environment": sys.prefix, "command": COMMAND, **settings})


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with a package `comet`: one for all tests, which then share a forked Python."""
    folder = tmp_path_factory.mktemp("comet")
    (folder / "comet.py").write_text(STAND_IN)
    return folder


@pytest.fixture(autouse=True)
def _models(workplace, package, monkeypatch):
    """Two COMET models in the working directory, and a package `comet` on Python's path."""
    path = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path.rstrip(os.pathsep))
    for name, content in (("wmt22-comet-da", "weights"), ("broken", "broken")):
        folder = workplace.folder / "models" / name
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        (folder / "hparams.yaml").write_text("")
        (folder / "checkpoints/model.ckpt").write_text(content)


def test_segment_scores_and_their_means(workplace):
    write_comet(workplace)
    finished = workplace.run(TARGET, settings=SETTINGS)
    assert {"run_metric", "score_metric", "summarise_seeds"} <= finished.rules
    values = {}
    for seed in (1, 2):
        run = workplace.folder / f"results/brief/little/transformer_base/seed{seed}"
        scores = read_json(run / "metrics/comet.json")["comet"]
        assert list(scores) == ["test", "dev"]
        for split, own in scores.items():
            pairs = list(read_rows(workplace.folder / f"results/little/corpus/{split}.parquet"))
            texts = [read_lines(run / f"hypotheses/{split}/{name}.txt") for name in ("translations", "references")]
            counts = read_counts(run / "metrics/comet" / f"{split}.parquet", "comet")
            assert counts.test == checksum_of_test(texts[1])
            rows = zip(pairs, *texts, strict=False)
            lengths = [len(pair["source"]) + 2 * len(mt) + 3 * len(ref) for pair, mt, ref in rows]
            assert counts.counts_BF.tolist() == [[length / 1000, 1] for length in lengths]
            assert own["comet"] == pytest.approx(sum(lengths) / 10 / len(lengths))
            assert own["comet_signature"] == "COMET|model:wmt22-comet-da|version:0.stand-in|text:tokens"
        values[seed] = scores["test"]["comet"]
        assert not list(run.glob("metrics/comet.*put.json"))
    summary = read_json(workplace.folder / TARGET)["splits"]["test"]["comet"]
    assert summary["values"] == list(values.values())
    assert summary["stdev"] is not None
    shown = f"{TARGET} test: COMET {summary['mean']:.1f} ± {summary['stdev']:.1f} (seeds 1, 2)"
    assert shown in finished.output


def test_what_is_missing_is_said_before_anything_runs(workplace):
    write_comet(workplace, model_name="absent")
    absent = workplace.call("-n", "-F", TARGET, settings=SETTINGS)
    assert absent.code == 1
    assert (
        "config/metrics/comet.yaml: there is no model 'absent': looked for it at models/absent, manual/"
        in absent.output
    )


def test_a_model_that_cannot_be_loaded_is_explained(workplace):
    write_comet(workplace, model_name="broken")
    failed = workplace.call("--cores", "1", TARGET, settings=SETTINGS)
    assert failed.code == 1
    assert not failed.rules & {"train_model", "translate_split", "score_tests"}
    assert "broken/checkpoints/model.ckpt cannot be loaded (no such weights). If its encoder is" in failed.output
