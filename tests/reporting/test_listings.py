"""What the demo shows at its end, from results that were written for it."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from evaluation.test_metrics import draw
from sacrebleu import corpus_bleu
from tables.runs import EVALUATION, Results

from nmtcore.config.training import EvaluationSettings
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.summary import Estimate
from nmtcore.reporting.listings import meaning, write_demo

COMPARED = {"base": None, "head": "base", "other": "base", "trees": "other"}
WRONG = {"base": (0.4, 0.42), "head": (0.4, 0.41), "other": (0.4, 0.3), "trees": (0.2, 0.25)}
"""The share of wrong words in the translations of each seed."""


@pytest.fixture
def show(tmp_path):
    """A function that shows the first seeds, and returns the text, their translations and the references."""
    _, references = draw(40)
    results = Results(tmp_path, references, references)
    translations = {name: [draw(40, wrong=wrong)[0] for wrong in seeds] for name, seeds in WRONG.items()}

    def shown(seeds, filled=()):
        """The systems `filled` have a word in place of each empty translation."""
        own = {name: runs[:seeds] for name, runs in translations.items()}
        own |= {name: [[line or "x" for line in lines] for lines in own[name]] for name in filled}
        results.write_runs(own)
        names = [
            {"scale": "quick", "dataset": "d", "system": name, "seed": i + 1} for name in own for i in range(seeds)
        ]
        counts = [Path(results.layout.path("counts", **run)) for run in names]
        facts = {
            "split": "test",
            "compared_with": COMPARED,
            "parser": "head",
            "parser_control": "c",
        }
        write_demo(tmp_path / "demo.txt", counts=counts, comparison=facts, layout=results.layout)
        return (tmp_path / "demo.txt").read_text(encoding="utf-8"), own, references

    return shown


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_numbers_are_those_of_the_translations(show, seeds):
    text, translations, references = show(seeds, filled=COMPARED)
    header, *rows = (re.split(r"\s{2,}", line) for line in text.splitlines()[:5])
    assert header == ["system", "compared with", "seeds", "BLEU", "length", "difference"]
    assert [row[0] for row in rows] == list(COMPARED)
    counts = {
        name: [METRICS["bleu"].count(lines, references, EvaluationSettings(**EVALUATION)) for lines in runs]
        for name, runs in translations.items()
    }
    differences = compare_systems(counts, COMPARED)
    for name, *cells in rows:
        if control := COMPARED[name]:
            assert (cells.pop(0), cells.pop()) == (control, Estimate.of(differences[name]).text())
        number, score, length = (float(re.match(r"[\d.]+", cell)[0]) for cell in cells)
        bleu = [corpus_bleu(lines, [references], tokenize="none") for lines in translations[name]]
        assert number == seeds
        assert score == pytest.approx(sum(own.score for own in bleu) / seeds, abs=0.051)
        assert length == pytest.approx(sum(own.sys_len / own.ref_len for own in bleu) / seeds, abs=0.0051)
    flat = " ".join(text.split())
    pairs = {(name, COMPARED[name]): own for name, own in differences.items()}
    assert meaning(pairs, sentences=40, seeds=seeds) in flat


@pytest.mark.parametrize(
    ("deltas", "seeds", "sentence"),
    [
        ((4.0, 0.5), 1, "one seed, which leaves out the noise of training, a scores 4.0 points of BLEU more than b, "
                        "and c does not clearly differ from d."),
        ((-4.0, -0.5), 3, "3 seeds, a scores 4.0 points of BLEU less than b, and c does not clearly differ from d."),
    ],
)  # fmt: skip
def test_the_sentence_has_its_reservations(deltas, seeds, sentence):
    owns = [SimpleNamespace(delta=delta, interval=(delta - 1, delta + 1)) for delta in deltas]
    differences = dict(zip([("a", "b"), ("c", "d")], owns, strict=True))
    assert meaning(differences, sentences=500, seeds=seeds) == f"On 500 sentences and with {sentence}"
