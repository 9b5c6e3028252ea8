"""Files of the user's own: how each `path` is resolved, and the errors about invalid or missing files."""

import pytest

from nmtcore.config.datasets import check_own_files
from nmtcore.config.project import Project
from nmtcore.errors import UserError

MINIMAL = {
    "description": "Sentences of my own",
    "source": "en",
    "target": "de",
    "splits": dict.fromkeys(("train", "dev", "test"), "pairs"),
    "segmentation": {"kind": "bpe", "size": 100},
    "recipe": "small",
}


def mine(files: dict, **changes) -> dict:
    return MINIMAL | {"corpora": {"pairs": {"format": "plain", "files": files}}} | changes


def paths(settings, corpus="pairs"):
    return {role: [file.path for file in files] for role, files in settings.corpora[corpus].files.items()}


def test_absolute_and_relative_paths_home_folders_and_short_forms(own_project, tmp_path, monkeypatch):
    """A relative path starts at the folder of the configuration."""
    monkeypatch.setenv("HOME", "/home/me")
    files = {"en": "~/a.en", "target": ["/data/b.de", {"path": "~/c.de.gz"}, {"path": "my/../d.de"}, "./e.de"]}
    settings = own_project({"datasets/mine": mine(files)}).dataset("mine")
    target = ["/data/b.de", "/home/me/c.de.gz", f"{tmp_path}/d.de", f"{tmp_path}/e.de"]
    assert paths(settings) == {"source": ["/home/me/a.en"], "target": target}


def test_a_path_is_relative_to_the_configuration_that_defines_it(own_project, root, tmp_path):
    own_project(
        {
            "first/corpora/pairs": {"format": "plain", "files": {"source": "x", "target": "../y"}},
            "second/datasets/parent": mine({"source": "s", "target": "t"}),
            "first/datasets/child": {"extends": "parent", "description": "A child"},
            "first/datasets/shared": MINIMAL,
        }
    )
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
def test_an_invalid_path_is_an_error(own_project, entry, sentence):
    with pytest.raises(UserError, match=sentence):
        own_project({"datasets/mine": mine({"source": entry, "target": "/b"})}).dataset("mine")


def test_a_model_cannot_have_a_path(own_project):
    project = own_project({"models/own": {"description": "x", "files": [{"path": "/a"}]}})
    with pytest.raises(UserError, match=r"`path` is for corpora: put your own model into a folder that"):
        project.annotator_model("own")


def test_all_missing_files_are_named_at_once(own_project, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "there").write_text("x\n")
    files = {"source": ["there", "gone.en"], "target": ["folder", "there"]}
    other = {"format": "plain", "files": {"source": "no.en", "target": "no.de"}}
    values = mine(files, splits={"train": "pairs", "dev": "pairs", "test": "other"})
    values["corpora"] |= {"other": other, "unused": other}
    settings = own_project({"datasets/mine": values}).dataset("mine")
    with pytest.raises(UserError) as caught:
        check_own_files(settings, where="mine.yaml")
    assert str(caught.value).splitlines() == [
        "mine.yaml: files are missing (a relative path starts at the config folder):",
        f"  corpora.pairs: files.source (number 2): there is no file {tmp_path}/gone.en",
        f"  corpora.pairs: files.target (number 1): a folder is at {tmp_path}/folder",
        f"  corpora.other: files.source: there is no file {tmp_path}/no.en",
        f"  corpora.other: files.target: there is no file {tmp_path}/no.de",
    ]


def test_all_missing_keys_of_a_data_set_are_named_at_once(own_project):
    sentence = r"mine\.yaml: the keys 'target', 'splits', 'recipe', 'segmentation' are missing\."
    with pytest.raises(UserError, match=sentence):
        own_project({"datasets/mine": {"description": "x", "source": "en"}}).dataset("mine")


def test_a_file_may_hold_several_entries(own_project):
    """Own entries take the place of the repository's, one by one."""
    both = mine({"source": "/a", "target": "/b"})
    pairs = {"pud_cs": {"format": "plain", "files": {"source": "x", "target": "y"}}}
    several = {"first": both, "second": {"extends": "first", "description": "Other"}}
    project = own_project({"datasets/several": several, "corpora/pairs": pairs})
    assert project.dataset("second").corpora == project.dataset("first").corpora
    assert project.corpus_files.read("pud_cs")["format"] == "plain"
    assert project.corpus_files.read("pud_de")["format"] == "conllu"
    with pytest.raises(UserError, match=r"the data set .first. is also defined in .*: rename"):
        own_project({"datasets/more": {"first": both}})
