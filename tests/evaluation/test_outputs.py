"""Translations of a test by several runs, from anywhere, and imported for a run."""

from dataclasses import replace
from pathlib import Path

import pytest
from factories import run_settings
from pair_files import write_corpus

from nmtcore.config.runs import SentencesSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import import_translations, read_files, read_outputs
from nmtcore.evaluation.scores import make_output_files, output_files
from nmtcore.files import read_lines, write_json, write_lines

REFERENCES = ["a b c", "d", ""]


def write_run(folder, translations, references=REFERENCES):
    files = make_output_files(folder)
    write_lines(files.translations, translations)
    write_lines(files.references, references)
    return folder


def test_runs_are_read_by_system_and_seed(tmp_path):
    folders = {
        system: {seed: write_run(tmp_path / f"{system}{seed}", [system, str(seed), ""]) for seed in (1, 2)}
        for system in ("base", "other")
    }
    outputs = read_outputs(folders)
    assert outputs.references == REFERENCES
    assert list(outputs.translations) == ["base", "other"]
    assert outputs.translations["other"][2] == ["other", "2", ""]


@pytest.mark.parametrize(
    ("translations", "references", "sentence"),
    [
        (["a", "b"], REFERENCES, "other/translations.txt has 2 lines, but "),
        (["a", "b", "c"], ["a b c", "d", "e"], "other/references.txt differ, so that their runs cannot be compared"),
    ],
)
def test_runs_that_do_not_fit_together_are_refused(tmp_path, translations, references, sentence):
    folders = {"base": {1: write_run(tmp_path / "base", ["x", "y", "z"])}}
    folders["other"] = {1: write_run(tmp_path / "other", translations, references)}
    with pytest.raises(UserError) as error:
        read_outputs(folders)
    assert sentence in str(error.value)


def test_files_from_anywhere_are_systems_and_their_seeds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ref", "one", "many/seed1", "many/seed2", "many/seed10", "a=b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(f"\ufeff{name}\r\n\u2028x\n".encode())
    outputs = read_files(Path("ref"), ["one", "many=many/seed*", "a=b"])
    assert outputs.references == ["ref", "\u2028x"]
    assert {name: [lines[0] for lines in seeds.values()] for name, seeds in outputs.translations.items()} == {
        "one": ["one"],
        "many": ["many/seed1", "many/seed2", "many/seed10"],
        "a=b": ["a=b"],
    }
    assert list(outputs.translations["many"]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("systems", "sentence"),
    [
        (["missing"], "No file matches missing: name a file, or several as a pattern, 'mine/seed*.txt'."),
        (["folder"], "No file matches folder: name a file"),
        (["x="], "No file matches x=: name a file"),
        (["x=one", "x=two"], "The system x is given twice"),
        (["empty"], "empty is empty: provide one line per sentence."),
        (["short"], "short has 1 lines, but the references ref have 2: provide one line for each."),
        (
            ["latin"],
            "latin, line 2: is not valid UTF-8 (byte 3): correct the text. If it is Latin-1: iconv -",
        ),
        (["wide"], "wide is UTF-16, not UTF-8: convert it (iconv"),
    ],
)
def test_files_that_cannot_be_scored(tmp_path, monkeypatch, systems, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    texts = dict.fromkeys(("ref", "one", "two"), b"a\nb\n") | {"empty": b"", "short": b"a\n", "latin": b"a\nb \xff\n"}
    for name, text in {**texts, "wide": "a and so on\nb\n".encode("utf-16")}.items():
        (tmp_path / name).write_bytes(text)
    with pytest.raises(UserError) as error:
        read_files(Path("ref"), systems)
    assert sentence in str(error.value)


SENTENCES = [["the", "cat", "."], ["dog"], ["the", "dog"], ["a", "cat"]]
IDS = [0, 2, 3, 6]
"""Their numbers in a split of seven pairs, of which three were dropped."""


@pytest.fixture
def imported(tmp_path):
    """Import a text as the translations of the test, and give what was written and printed."""

    def call(text, *, limit=None):
        (tmp_path / "mine.txt").write_bytes(text)
        write_json(tmp_path / "raw.json", {"pairs": 7, "kept": 4})
        corpus = write_corpus(tmp_path / "test.parquet", SENTENCES, ids=IDS)
        run = replace(
            run_settings(evaluation=EvaluationSettings(text="tokens")),
            tests=("test",),
            external={"test": str(tmp_path / "mine.txt")},
            sentences=SentencesSettings(test=limit),
        )
        paths = {"translations": tmp_path / "mine.txt", "corpus": corpus, "report": tmp_path / "raw.json"}
        messages = import_translations(run, split="test", **paths, hypotheses=tmp_path / "hypotheses/test")
        files = output_files(tmp_path / "hypotheses/test")
        assert sorted(files.translations.parent.iterdir()) == [files.references, files.translations]
        return read_lines(files.translations), read_lines(files.references), messages

    return call


@pytest.mark.parametrize("limit", [None, 3])
def test_lines_follow_the_numbers_of_the_first_pairs_that_were_kept(imported, limit):
    text = "\ufeffzero\r\none\r\n\r\nthree\u2028\x85\r\nfour\r\nfive\r\n  "
    translations, references, messages = imported(text.encode(), limit=limit)
    assert translations == ["zero", "", "three\u2028\x85", "  "][:limit]
    assert references == [" ".join(words) for words in SENTENCES[:limit]]
    used, empty = (4, 2) if limit is None else (3, 1)
    assert messages[0].endswith(f"mine.txt: {used} of 7 lines used for test, {empty} of them empty")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a\n" * 6, r"mine.txt has 6 lines, but the split test of \w+ has 7 pairs: provide one line"),
        (b"a\n" * 6 + b"\xff\n", r"mine.txt, line 7: is not valid UTF-8 \(byte 1\)"),
    ],
)
def test_texts_that_do_not_fit_are_refused(imported, text, sentence):
    with pytest.raises(UserError, match=sentence):
        imported(text)
