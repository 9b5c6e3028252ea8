"""Parsers that are known for a language: configured, in the user's folders, or for none."""

import json

import pytest

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.new import known_parsers as module
from nmtcore.new.known_parsers import choose_parsers, known_parsers


@pytest.fixture
def make_project(root, tmp_path, monkeypatch):
    """Return a function that makes a project with one folder of models, which is empty at first."""
    monkeypatch.setattr(module, "_installed", lambda language: iter(()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    return lambda: Project([root / "config"], {"models": [str(tmp_path / "models")]})


def pipeline(folder, name, lang, components, labels=()):
    (folder / name).mkdir()
    meta = {"lang": lang, "name": name, "pipeline": components, "labels": {"tagger": list(labels)}}
    (folder / name / "meta.json").write_text(json.dumps(meta))


def names(parsers):
    return [(parser.name, parser.place) for parser in parsers]


def test_models_of_the_repository_are_known(make_project):
    project = make_project()
    assert names(known_parsers(project, "cs")) == [("stanza_cs", "download")]
    assert names(known_parsers(project, "de")) == [
        ("stanza_de", "download"), ("udpipe_de", "download"), ("corenlp", "download")
    ]  # fmt: skip
    english = names(known_parsers(project, "en"))
    assert english == [("stanza_en", "download"), ("corenlp", "download"), ("easyccg", "by hand")]
    assert known_parsers(project, "hsb") == []


def test_models_in_folders_come_first(make_project, tmp_path):
    folder = tmp_path / "models"
    pipeline(folder, "en_ud", "en", ["tagger", "parser"])
    pipeline(folder, "en_ccg", "en", ["tagger"], ["(S\\NP)/NP", "N"])
    pipeline(folder, "en_tags", "en", ["tagger"], ["NN"])
    pipeline(folder, "de_ud", "de", ["tagger", "parser"])
    (folder / "en_broken").mkdir()
    (folder / "en_broken/meta.json").write_text("{")
    (folder / "hsb_ud.udpipe").write_text("")
    (folder / "stanza_en").mkdir()
    project = make_project()
    english = known_parsers(project, "en")
    assert names(english)[:2] == [("spacy_en_ccg", "here"), ("spacy_en_ud", "here")]
    assert ("stanza_en", "download") in names(english), "a folder without the parser is no model"
    (folder / "stanza_en/depparse.pt").write_text("")
    assert names(known_parsers(project, "en"))[0] == ("stanza_en", "here")
    assert english[0].entry == {"tool": "spacy", "model": "en_ccg", "tags": "ccg"}
    assert english[0].gives == ("ccg",)
    (udpipe,) = known_parsers(project, "hsb")
    assert (udpipe.name, udpipe.entry) == ("udpipe_hsb_ud", {"tool": "udpipe", "model": "hsb_ud.udpipe"})


def test_one_parser_is_chosen_per_side_and_a_supertagger_that_is_here(make_project, tmp_path):
    project = make_project()
    languages = {"source": "en", "target": "hsb"}
    assert {s: names(p) for s, p in choose_parsers(project, languages, None).items()} == {
        "source": [("stanza_en", "download")], "target": []
    }  # fmt: skip
    assert names(choose_parsers(project, languages, "corenlp")["source"]) == [("corenlp", "download")]
    pipeline(tmp_path / "models", "en_ccg", "en", ["tagger"], ["S\\NP"])
    assert names(choose_parsers(project, languages, None)["source"]) == [
        ("stanza_en", "download"), ("spacy_en_ccg", "here")
    ]  # fmt: skip


def test_a_tool_without_a_model_is_an_error(make_project):
    with pytest.raises(UserError) as caught:
        choose_parsers(make_project(), {"source": "cs", "target": "en"}, "udpipe")
    assert str(caught.value) == (
        "--parser udpipe: no udpipe model for cs or en is in config/models or in the folders of `models` (known for "
        "these languages: stanza_cs, stanza_en, corenlp, easyccg)."
    )
