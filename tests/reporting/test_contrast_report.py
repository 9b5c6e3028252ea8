"""The report on one model's contrastive pairs."""

from nmtcore.inference.schemas import ContrastScore
from nmtcore.reporting.contrast_report import contrast_report

MODEL = {"dataset": "d", "system": "s", "scale": "smoke", "seed": 1}


def score(right, wrong, phenomenon, distance=None, unknown=0):
    return ContrastScore(phenomenon, distance, right, wrong, 3, 3, unknown)


SCORES = [
    score(-1, -2, "number", 1), score(-3, -2, "number", 20), score(-2, -2, "number", 1, 1), score(-1, -2, "order_2", 4),
    score(-1, -2, "other"),
]  # fmt: skip


def test_tables_are_by_phenomenon_distance_and_both():
    lines = contrast_report(SCORES, model=MODEL).splitlines()
    assert lines[:6] == [
        "| phenomenon | pairs | right | accuracy, % | 95 % interval | ties |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| `number` | 3 | 1 | 33.3 | 6.1 to 79.2 | 1 |",
        "| `order_2` | 1 | 1 | 100.0 | 20.7 to 100.0 | 0 |",
        "| `other` | 1 | 1 | 100.0 | 20.7 to 100.0 | 0 |",
        "| `all` | 5 | 3 | 60.0 | 23.1 to 88.2 | 1 |",
    ]
    text = "\n".join(lines)
    assert "Model: dataset d, system s, scale smoke, seed 1.\n" in text
    assert "Ties, equally probable\ntranslations, count as wrong." in text
    assert "1 of 5 pairs have subwords that the vocabulary lacks, scored as `<unk>`." in text
    distances = text[text.index("## By distance") : text.index("## By phenomenon and distance")].splitlines()
    assert [line[:13] for line in distances[4:7]] == ["| 1 | 2 | 1 |", "| 4 | 1 | 1 |", "| >15 | 1 | 0"]
    both = text[text.index("## By phenomenon and distance") :].splitlines()
    assert [line.split(" | ")[:3] for line in both[4:]] == [
        ["| `number`", "1", "2"], ["| `number`", ">15", "1"], ["| `order_2`", "4", "1"],
    ]  # fmt: skip


def test_one_phenomenon_without_distances_has_one_row():
    lines = contrast_report([SCORES[-1]], model=MODEL).splitlines()
    assert [line for line in lines if line.startswith("| `")] == ["| `other` | 1 | 1 | 100.0 | 20.7 to 100.0 | 0 |"]
    assert not [line for line in lines if line.startswith("##") or "vocabulary lacks" in line]
