"""Translations of a test by several runs."""

from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_files, read_outputs
from nmtcore.files import write_lines

REFERENCES = ["a b c", "d", ""]


def write_run(folder, translations, references=REFERENCES):
    folder.mkdir(parents=True)
    write_lines(folder / "test.txt", translations)
    write_lines(folder / "test.references.txt", references)
    return folder


def test_runs_are_read_by_system_and_seed(tmp_path):
    folders = {
        system: {seed: write_run(tmp_path / f"{system}{seed}", [system, str(seed), ""]) for seed in (1, 2)}
        for system in ("base", "other")
    }
    outputs = read_outputs(folders, "test")
    assert outputs.references == REFERENCES
    assert list(outputs.translations) == ["base", "other"]
    assert outputs.translations["other"][2] == ["other", "2", ""]


@pytest.mark.parametrize(
    ("translations", "references", "sentence"),
    [
        (["a", "b"], REFERENCES, "other/test.txt has 2 lines, but "),
        (
            ["a", "b", "c"],
            ["a b c", "d", "e"],
            "other/test.references.txt differ, so that their runs cannot be compared",
        ),
    ],
)
def test_runs_that_do_not_fit_together_are_refused(tmp_path, translations, references, sentence):
    folders = {"base": {1: write_run(tmp_path / "base", ["x", "y", "z"])}}
    folders["other"] = {1: write_run(tmp_path / "other", translations, references)}
    with pytest.raises(UserError) as error:
        read_outputs(folders, "test")
    assert sentence in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"test.txt does not exist"):
        read_outputs({"base": {1: tmp_path}}, "test")


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
        (["missing"], "No file matches missing: check the name."),
        (["x=seed*.none"], "No file matches seed*.none: check the name."),
        (["folder"], "folder is a folder: name a file in it, or several as a pattern, 'folder/*.txt'."),
        (["=one"], "'=one' is not of the form NAME=PATTERN"),
        (["x="], "'x=' is not of the form NAME=PATTERN"),
        (["one", "one"], "The system one is given twice"),
        (["x=one", "x=two"], "The system x is given twice"),
        (["empty"], "empty is empty: provide one line per sentence."),
        (["short"], "short has 1 lines, but the references ref have 2: provide one line for each."),
        (["latin"], "latin, line 2: is not valid UTF-8 (byte 3)"),
        (["wide"], "wide is UTF-16, not UTF-8: convert it (iconv"),
    ],
)
def test_files_that_cannot_be_scored(tmp_path, monkeypatch, systems, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    texts = {
        "ref": b"a\nb\n",
        "one": b"a\nb\n",
        "two": b"a\nb\n",
        "empty": b"",
        "short": b"a\n",
        "latin": b"a\nb \xff\n",
    }
    for name, text in {**texts, "wide": "a and so on\nb\n".encode("utf-16")}.items():
        (tmp_path / name).write_bytes(text)
    with pytest.raises(UserError) as error:
        read_files(Path("ref"), systems)
    assert sentence in str(error.value)


@pytest.mark.parametrize(("text", "sentence"), [(b"", "ref is empty"), (None, "ref does not exist")])
def test_references_that_cannot_be_used(tmp_path, monkeypatch, text, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").write_bytes(b"a\n")
    if text is not None:
        (tmp_path / "ref").write_bytes(text)
    with pytest.raises(UserError, match=sentence):
        read_files(Path("ref"), ["one"])
