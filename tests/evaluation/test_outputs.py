"""Translations of a test by several runs."""

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_outputs
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
        (["a", "b"], REFERENCES, "other/test.txt has 2 lines for 3 references: delete"),
        ([], [], "other/test.txt has 0 lines for 0 references"),
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
