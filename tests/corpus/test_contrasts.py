"""Files of contrastive pairs: LingEval97's JSON, lines with tabs, and their faults."""

import gzip
import json

import pytest

from nmtcore.corpus.contrasts import ContrastRows, contrast_rows, read_contrasts
from nmtcore.corpus.formats.rows import Input
from nmtcore.errors import LineError, UserError

ENTRY = {
    "source": "Prague Stock Market falls",
    "reference": "Die Prager Börse stürzt.",
    "origin": "newstest2009.1",
    "errors": [
        {"type": "np_agreement", "contrastive": "Der Prager Börse stürzt.", "distance": 2, "frequency": 2020},
        {"type": "polarity_particle_nicht_ins", "contrastive": "Die Prager Börse stürzt nicht."},
    ],
}
HEADER = "source\tright\twrong\tphenomenon\tdistance\n"


def read(tmp_path, content):
    path = tmp_path / "pairs"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_contrasts(Input(path, None)))


def plain_entries(entries):
    return [
        (e.source.text, e.right.text, [(w.side.text, w.phenomenon, w.distance) for w in e.wrong], e.place)
        for e in entries
    ]


@pytest.mark.parametrize("start", ["", "\ufeff", "  \n"])
def test_lingeval_is_read_in_its_own_form(tmp_path, start):
    without_errors = {"source": "a", "reference": "b", "errors": []}
    entries = read(tmp_path, start + json.dumps([without_errors, ENTRY], ensure_ascii=False))
    wrong = [
        ("Der Prager Börse stürzt.", "np_agreement", 2),
        ("Die Prager Börse stürzt nicht.", "polarity_particle_nicht_ins", None),
    ]
    assert plain_entries(entries) == [(ENTRY["source"], ENTRY["reference"], wrong, "entry 2")]


def test_lines_of_one_sentence_are_one_entry(tmp_path):
    lines = ["s\tr\tw1\tnumber\t3", "s\tr\tw2\tword order\t", "s2\tr\tw1\tnumber\t0", "s\tr\tw3\tnumber\t1"]
    entries = read(tmp_path, gzip.compress((HEADER + "\r\n".join(lines)).encode()))
    assert plain_entries(entries) == [
        ("s", "r", [("w1", "number", 3), ("w2", "word order", None)], "line 2"),
        ("s2", "r", [("w1", "number", 0)], "line 4"),
        ("s", "r", [("w3", "number", 1)], "line 5"),
    ]
    assert [(s.text, t.text) for entry in entries[:2] for s, t in entry.pairs] == [
        ("s", "r"), ("s", "w1"), ("s", "w2"), ("s2", "r"), ("s2", "w1"),
    ]  # fmt: skip
    assert list(contrast_rows(entries)) == [
        ContrastRows(0, 1, "number", 3),
        ContrastRows(0, 2, "word order", None),
        ContrastRows(3, 4, "number", 0),
        ContrastRows(5, 6, "number", 1),
    ]


def test_columns_have_any_order_and_others_are_ignored(tmp_path):
    content = "phenomenon\tnote\twrong\tright\tsource\nnumber\t?\tw\tr\ts\n"
    assert plain_entries(read(tmp_path, content)) == [("s", "r", [("w", "number", None)], "line 2")]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "pairs has no contrastive pairs: check the file."),
        ("[]", "pairs has no contrastive pairs: check the file."),
        (HEADER, "pairs has no contrastive pairs: check the file."),
        ("a\tb\n", "pairs, line 1: the header must name each of the columns source, right, wrong, phenomenon once"),
        ("source\tsource\tright\twrong\tphenomenon\n", "source is there twice"),
        (HEADER + "s\tr\tw\tp\n", "pairs, line 2: there are 4 columns, but the header has 5: correct the line."),
        (HEADER + "s\tr\tw\tp\t1\ns\t \tw\tp\t1\n", "pairs, line 3: right is empty: correct the line."),
        (HEADER + "s\tr\tw\t\t1\n", "pairs, line 2: the phenomenon '' is not a name of letters, digits and _ . + : -"),
        (HEADER + "s\tr\tw\ta|b\t1\n", "the phenomenon 'a|b' is not a name"),
        (HEADER + "s\tr\tw\tp\t-1\n", "pairs, line 2: the distance '-1' is not a whole number of words: correct"),
        (HEADER.encode() + b"s\tr\t\xff\tp\t1\n", "pairs, line 2: is not valid UTF-8 (byte 5)"),
        ('[{"source": 1,\n}]', "pairs, line 2: not valid JSON"),
        ('{"source": "s"}', "pairs must be a list of objects with source, reference and errors, as in LingEval97."),
        ('["s"]', "pairs, entry 1: source is missing: correct the entry."),
        ('[{"source": "s", "reference": 3}]', "pairs, entry 1: reference is not a text: correct the entry."),
        ('[{"source": "s", "reference": "r", "errors": {}}]', "pairs, entry 1: errors is not a list"),
        ('[{"source": "s", "reference": "r", "errors": [{"type": "p"}]}]', "entry 1: contrastive is missing"),
        (b'["\xff"]', "pairs is not UTF-8 from byte 3 on: convert it (see `iconv`)."),
    ],
)
def test_faults_are_explained(tmp_path, content, sentence):
    with pytest.raises(UserError) as error:
        read(tmp_path, content)
    assert sentence in str(error.value)
    assert isinstance(error.value, LineError) == (", line " in str(error.value))
