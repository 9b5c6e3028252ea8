"""What the demo says about made-up numbers."""

import pytest

from nmtcore.files import read_json
from nmtcore.reporting.demo_table import construction_meaning, demo_text, meaning, write_demo_table
from nmtcore.reporting.pages import PAGE_FORMATS


def mean(value, stdev=None):
    return {"mean": value, "stdev": stdev, "values": [value]}


def compared(delta, half, p=0.5):
    return {"delta": delta, "interval": [delta - half, delta + half], "detectable": 1.43 * half, "p": p}


def results(*differences, seeds=(1,), constructions=(), uas=95.1):
    """The results of a baseline and of systems with these differences; the second system is the control."""
    names = ["depparse_l1", "diagonalparse_l0"][: len(differences)]
    systems = [{"system": "base", "bleu": mean(30.0), "chrf": mean(57.2), "uas": None, "difference": None}]
    for name, own in zip(names, differences, strict=True):
        scores = {"bleu": mean(30 + own["delta"]), "chrf": mean(55.0), "uas": mean(uas)}
        systems.append({"system": name, **scores, "difference": own})
    return {
        "dataset": "demo_en2de", "scale": "demo", "seeds": list(seeds), "split": "test", "sentences": 500,
        "empty": [], "signature": "s", "baseline": "base", "neighbour": {"word": "next", "share": 36.4},
        "systems": systems,
        "constructions": list(constructions),
    }  # fmt: skip


def construction(name, sentences, *differences):
    systems = {"base": {"bleu": 25.0, "difference": None}}
    for system, own in zip(("depparse_l1", "diagonalparse_l0"), differences, strict=False):
        systems[system] = {"bleu": 25 + own["delta"], "difference": own}
    return {"construction": name, "sentences": sentences, "systems": systems}


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [
        (
            compared(-0.6, 1.7),
            "depparse_l1 scores 0.6 points of BLEU less than base (95 % interval -2.3 to +1.1): the interval includes "
            "0, so these 500 sentences do not tell which is better.",
        ),
        (
            compared(4.2, 1.5),
            "depparse_l1 scores 4.2 points of BLEU more than base (95 % interval +2.7 to +5.7): the interval excludes "
            "0, so the choice of test sentences does not explain it.",
        ),
        (
            compared(-4.2, 1.5),
            "depparse_l1 scores 4.2 points of BLEU less than base (95 % interval -5.7 to -2.7): the interval excludes "
            "0, so the choice of test sentences does not explain it.",
        ),
        (
            compared(0.02, 0.3),
            "depparse_l1 and base score the same, to one decimal of BLEU (95 % interval -0.3 to +0.3): the interval "
            "includes 0, so these 500 sentences do not tell which is better.",
        ),
    ],
)
def test_a_difference_means_something_only_if_its_interval_excludes_0(difference, sentence):
    assert meaning(results(difference))[0] == sentence


def test_the_noise_is_that_of_the_widest_interval_and_of_the_seeds():
    noise = meaning(results(compared(1.0, 1.0), compared(1.0, 2.0)))[2]
    assert noise == (
        "A difference would have to be about 2.9 points to be found reliably if training made no noise. An interval "
        "from one seed leaves training noise out and excludes 0 wrongly in 45 of 100 simulated pairs of equal systems "
        "(seed noise .5, sentence noise .3)."
    )
    several = meaning(results(compared(1.0, 1.0), seeds=(1, 2, 3)))[1]
    assert several == (
        "A difference would have to be about 1.4 points to be found reliably. The intervals count the noise of 3 seeds "
        "and of the test's sentences."
    )


def test_heads_are_compared_with_pointing_to_a_neighbour():
    parser, control = meaning(results(compared(0.0, 1.0), compared(0.0, 1.0)))[-2:]
    assert parser == (
        "The head of depparse_l1 finds the governor of 95.1 % of the words, more than the 36.4 % that always pointing "
        "to the next word would find."
    )
    assert control == "The control head of diagonalparse_l0 points to the previous word for 95.1 % of the words."
    assert "no more than the 36.4 %" in meaning(results(compared(0.0, 1.0), uas=20.0))[-1]


def test_constructions_are_significant_only_after_holms_correction():
    def said_of(rows):
        return construction_meaning(results(constructions=rows, seeds=(1, 2)))[1]

    rows = [construction(f"c{i}", 100, compared(2.0, 1.0, p=0.02)) for i in range(3)]
    assert said_of(rows).startswith("None of the 3 differences is significant")
    rows[1] = construction("c1", 100, compared(-4.0, 1.0, p=0.001))
    said = said_of(rows)
    assert said == (
        "3 of the 3 differences are significant (p < 0.05 with Holm's correction for so many comparisons): "
        "depparse_l1 on c0 (+2.0), depparse_l1 on c1 (-4.0), depparse_l1 on c2 (+2.0)."
    )
    rows[0] = construction("c0", 100, compared(2.0, 1.0, p=0.9))
    rows[2] = construction("c2", 100, compared(2.0, 1.0, p=None))
    said = said_of(rows)
    assert said.startswith("1 of the 3 differences is significant")
    assert said.endswith(": depparse_l1 on c1 (-4.0).")


def test_no_construction_is_significant_with_one_seed():
    said = construction_meaning(results(constructions=[construction("c", 100, compared(4.0, 1.0, p=1e-6))]))
    assert said[1:] == ["With one seed, none of these differences can be called significant."]


def test_few_sentences_are_named_and_not_tested():
    rows = [construction("many", 30, compared(2.0, 1.0, p=0.9)), construction("few", 29, compared(9.0, 1.0, p=0.0))]
    rows.append({"construction": "none", "sentences": 0, "systems": {"base": None, "depparse_l1": None}})
    said = construction_meaning(results(constructions=rows, seeds=(1, 2)))
    assert "None of the 1 differences is significant" in said[1]
    assert said[2] == "Fewer than 30 sentences, too few to compare: few, none."
    assert len(construction_meaning(results(constructions=rows[1:]))) == 2, "nothing is tested"


def test_the_terminal_shows_tables_meaning_and_commands():
    rows = [construction("agreement (attractor)", 9, compared(-1.2, 7.5), compared(1.0, 8.2))]
    rows.append({"construction": "none", "sentences": 0, "systems": dict.fromkeys(rows[0]["systems"])})
    text = demo_text(results(compared(-0.6, 1.7), compared(0.5, 1.5), constructions=rows), folder="mine/results")
    lines = text.splitlines()
    assert lines[0] == "system            BLEU  chrF  UAS of the head  difference in BLEU"
    assert lines[2] == "depparse_l1       29.4  55.0             95.1          -0.6 ± 1.7"
    assert ["none", "0", "(none)"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 80
    assert not any(line.lstrip().startswith("%") for line in lines)
    commands = text.split("wrong one):\n\n")[1].splitlines()
    assert commands[0] == "source .venv/bin/activate"
    assert commands[1] == "MODEL=mine/results/demo/demo_en2de/depparse_l1/seed1/model"
    assert len(commands) == 5


def test_all_formats_are_written(tmp_path):
    made = results(compared(-0.6, 1.7), constructions=[construction("question", 48, compared(1.0, 2.0))])
    text = write_demo_table(made, json=tmp_path / "demo.json", table=tmp_path / "demo.md")
    assert read_json(tmp_path / "demo.json") == made
    assert (tmp_path / "demo.md").read_text() == text
    assert {path.suffix for path in tmp_path.iterdir()} == {*PAGE_FORMATS, ".json"}
    assert "| depparse_l1 | 29.4 | 55.0 | 95.1 | -0.60 | -2.30 to +1.10 |" in text
    assert "| question | 48 | depparse_l1 | 26.0 | +1.00 | -1.00 to +3.00 |" in text
