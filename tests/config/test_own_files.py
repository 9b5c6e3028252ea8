"""Files of the user's own: how each `path` is resolved, and the errors about invalid or missing files."""

import os
from pathlib import Path

import pytest
import yaml

from nmtcore.config.own_folder import check_own_files, own_file_states
from nmtcore.config.project import Project
from nmtcore.config.stages import ReadingSettings
from nmtcore.errors import UserError

MINIMAL = {
    "description": "Sentences of my own",
    "source": "en",
    "target": "de",
    "splits": dict.fromkeys(("train", "dev", "test"), "pairs"),
    "segmentation": {"kind": "bpe", "size": 100},
    "recipe": "small",
}


@pytest.fixture
def write(tmp_path):
    def write(name: str, values: dict) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(values))
        return path

    return write


def mine(files: dict, **changes) -> dict:
    return MINIMAL | {"corpora": {"pairs": {"format": "plain", "files": files}}} | changes


def dataset(root, tmp_path, name="mine"):
    return Project([tmp_path / "config", root / "config"], {}).dataset(name)


def paths(settings, corpus="pairs"):
    return {role: [file.path for file in files] for role, files in settings.corpora[corpus].files.items()}


def test_absolute_and_relative_paths_home_folders_and_short_forms(root, tmp_path, write, monkeypatch):
    """A relative path starts at the folder of the configuration."""
    monkeypatch.setenv("HOME", "/home/me")
    files = {"en": "~/a.en", "target": ["/data/b.de", {"path": "~/c.de.gz"}, {"path": "../my/d.de"}, "./e.de"]}
    write("config/datasets/mine.yaml", mine(files))
    target = ["/data/b.de", "/home/me/c.de.gz", f"{tmp_path}/my/d.de", f"{tmp_path}/config/e.de"]
    assert paths(dataset(root, tmp_path)) == {"source": ["/home/me/a.en"], "target": target}


def test_a_path_is_relative_to_the_configuration_that_defines_it(root, tmp_path, write):
    write("first/corpora/pairs.yaml", {"format": "plain", "files": {"source": "x", "target": "../y"}})
    write("second/datasets/parent.yaml", mine({"source": "s", "target": "t"}))
    write("first/datasets/child.yaml", {"extends": "parent", "description": "A child"})
    write("first/datasets/shared.yaml", MINIMAL)
    project = Project([tmp_path / "first", tmp_path / "second", root / "config"], {})
    assert paths(project.dataset("shared")) == {"source": [f"{tmp_path}/first/x"], "target": [f"{tmp_path}/y"]}
    expected = {"source": [f"{tmp_path}/second/s"], "target": [f"{tmp_path}/second/t"]}
    assert paths(project.dataset("child")) == expected


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("https://x.org/a.en", r"mine\.yaml: 'https://x.org/a.en' is an address, not a path: write \{name: "),
        ("", r"mine\.yaml: a file's `path` is empty"),
        ({"path": 3}, "path: expected a string, found 3"),
        ({"path": "/a", "url": "https://x"}, r"source\[0\]: /a is a `path`.*leave out url, mirrors and manual"),
        ({"path": "/a", "manual": "Ask."}, r"source\[0\]: /a is a `path`.*leave out url, mirrors and manual"),
        ({"path": "/a", "mirrors": [{"path": "y"}]}, r"source\[0\]: /a is a `path`.*leave out url, mirrors and man"),
        ({"name": "a"}, r"a has neither url nor mirrors nor manual \(a file of your own: `path`\)"),
    ],
)
def test_an_invalid_path_is_an_error(entry, sentence, root, tmp_path, write):
    write("config/datasets/mine.yaml", mine({"source": entry, "target": "/b"}))
    with pytest.raises(UserError, match=sentence):
        dataset(root, tmp_path)


def test_a_model_cannot_have_a_path(root, tmp_path, write):
    write("config/models/own.yaml", {"description": "x", "files": [{"path": "/a"}]})
    with pytest.raises(UserError, match=r"`path` is for corpora: put your own model into a folder that"):
        Project([tmp_path / "config", root / "config"], {}).annotator_model("own")


def test_all_missing_files_are_named_at_once(root, tmp_path, write):
    (tmp_path / "folder").mkdir()
    (tmp_path / "there").write_text("x\n")
    files = {"source": ["../there", "gone.en"], "target": ["../folder", "../there"]}
    other = {"format": "plain", "files": {"source": "no.en", "target": "no.de"}}
    values = mine(files, splits={"train": "pairs", "dev": "pairs", "test": "other"})
    values["corpora"] |= {"other": other, "unused": other}
    where = write("config/datasets/mine.yaml", values)
    with pytest.raises(UserError) as caught:
        check_own_files(dataset(root, tmp_path), where=where)
    assert str(caught.value).splitlines() == [
        f"{where}: files are missing (a relative path starts at the config folder):",
        f"  corpora.pairs: files.source (number 2): there is no file {tmp_path}/config/gone.en",
        f"  corpora.pairs: files.target (number 1): a folder is at {tmp_path}/folder",
        f"  corpora.other: files.source: there is no file {tmp_path}/config/no.en",
        f"  corpora.other: files.target: there is no file {tmp_path}/config/no.de",
    ]


def test_the_state_of_a_file_changes_when_it_is_replaced(root, tmp_path, write):
    path = tmp_path / "a"
    path.write_text("one\n")
    os.utime(path, ns=(0, 5_000_000_001))
    write("config/datasets/mine.yaml", mine({"source": "../a", "target": "../a"}))
    settings = dataset(root, tmp_path)
    before = own_file_states(ReadingSettings.of(settings, "train"))
    assert before == {str(path): "4 bytes, changed 1970-01-01 00:00:05.000000001 UTC"}
    os.utime(path, ns=(0, 5_000_000_000))  # older
    assert own_file_states(ReadingSettings.of(settings, "train")) != before
    path.write_text("more\n")
    os.utime(path, ns=(0, 5_000_000_001))  # the same time
    assert own_file_states(ReadingSettings.of(settings, "train")) != before


def test_all_missing_keys_of_a_data_set_are_named_at_once(root, tmp_path, write):
    write("config/datasets/mine.yaml", {"description": "x", "source": "en"})
    sentence = r"mine\.yaml: the keys 'target', 'splits', 'recipe', 'segmentation' are missing\."
    with pytest.raises(UserError, match=sentence):
        dataset(root, tmp_path)


def test_a_file_may_hold_several_entries(root, write, tmp_path):
    """Own entries take the place of the repository's, one by one."""
    both = mine({"source": "/a", "target": "/b"})
    write("config/datasets/several.yaml", {"first": both, "second": {"extends": "first", "description": "Other"}})
    write("config/corpora/pairs.yaml", {"pud_cs": {"format": "plain", "files": {"source": "x", "target": "y"}}})
    project = Project([tmp_path / "config", root / "config"], {})
    assert project.dataset("second").corpora == project.dataset("first").corpora
    assert project.corpus_files.read("pud_cs")["format"] == "plain"
    assert project.corpus_files.read("pud_de")["format"] == "conllu"
    write("config/datasets/more.yaml", {"first": both})
    with pytest.raises(UserError, match=r"the data set .first. is also defined in .*: rename"):
        Project([tmp_path / "config", root / "config"], {})
