"""The search for annotators' models."""

import pytest
from planted_models import plant_package

from nmtcore.annotation.base import AnnotationTask, open_annotator
from nmtcore.annotation.models import find_model, missing_models
from nmtcore.config.annotator_models import has_model, installed_pipeline
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.errors import UserError


def test_the_first_folder_with_the_model_is_used(tmp_path):
    for name in ("first", "second", "third"):
        (tmp_path / name / "parser").mkdir(parents=True)
    for name in ("second", "third"):
        (tmp_path / name / "parser" / "model.pt").write_text("")
    folders = [tmp_path / name for name in ("first", "second", "third")]
    path = find_model("parser", folders, description="parser", holds="*.pt")
    assert path == (tmp_path / "second" / "parser").resolve()


def test_a_file_is_found_by_its_name_or_as_the_only_file_of_a_folder(tmp_path):
    (tmp_path / "a.model").write_text("")
    assert find_model("a.model", [tmp_path], description="parser") == (tmp_path / "a.model").resolve()
    (tmp_path / "b").mkdir()
    for name in ("x.model", "x.model.json", ".x.model.known.json"):
        (tmp_path / "b" / name).write_text("")
    assert find_model("b", [tmp_path], description="parser").name == "x.model"
    (tmp_path / "b" / "y.model").write_text("")
    with pytest.raises(UserError, match="There is no parser 'b'"):
        find_model("b", [tmp_path], description="parser")


def test_an_environment_variable_may_name_the_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    assert not has_model("corenlp", [tmp_path], tool="corenlp")
    (tmp_path / "corenlp").mkdir()
    assert not has_model("corenlp", [tmp_path], tool="corenlp"), "an empty folder is no model"
    (tmp_path / "stanford-corenlp-4.jar").write_text("")
    monkeypatch.setenv("CORENLP_HOME", str(tmp_path))
    assert has_model("corenlp", [], tool="corenlp")
    assert find_model("corenlp", [], description="CoreNLP", holds="*.jar") == tmp_path.resolve()
    monkeypatch.setenv("CORENLP_HOME", "")
    assert not has_model("corenlp", [], tool="corenlp")


def test_the_error_of_a_missing_model_names_every_searched_path(tmp_path):
    with pytest.raises(UserError) as error:
        find_model("parser", [tmp_path / "p", tmp_path / "q"], description="spaCy pipeline", holds="meta.json")
    for part in (
        "'parser'",
        str(tmp_path / "p" / "parser"),
        str(tmp_path / "q" / "parser"),
        "config/models",
        "--models",
    ):
        assert part in str(error.value)
    with pytest.raises(UserError, match="there is no folder to search"):
        find_model("parser", [], description="UDPipe model")


@pytest.mark.parametrize(
    ("tool", "file"),
    [
        ("corenlp", "stanford-corenlp-4.5.10.jar"),
        ("easyccg", "easyccg.jar"),
        ("stanza", "depparse.pt"),
        ("spacy", "meta.json"),
        ("udpipe", "any.udpipe"),
    ],
)
def test_only_the_users_folders_are_searched(tmp_path, monkeypatch, tool, file):
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "corenlp", tmp_path / "models" / "corenlp"):
        folder.mkdir(parents=True)
        (folder / file).write_text("")
    assert not has_model("corenlp", [], tool=tool), "the working directory is not searched"
    assert has_model("corenlp", ["models"], tool=tool)
    assert not has_model("other", ["models"], tool=tool)
    (tmp_path / "models" / "corenlp" / file).rename(tmp_path / "models" / "corenlp" / ".hidden")
    assert not has_model("corenlp", ["models"], tool=tool), "a folder without the model's file is no model"


@pytest.mark.parametrize("name", ["en_core_web_sm", "de_dep_news_trf", "xx_sent_ud_sm", "pl_core_news_lg"])
def test_the_error_advises_to_install_spacys_own_pipelines(tmp_path, name):
    (sentence,) = missing_models(ANNOTATORS.build({"tool": "spacy", "model": name}, where="x"), [tmp_path])
    assert sentence.endswith(f" Or install it as a package: python -m spacy download {name}.")


@pytest.mark.parametrize(
    "name", ["os", "cs_ud", "en_core_web", "en_core_web_sm.zip", "a-b_core_web_sm", "En_core_web_sm"]
)
def test_the_error_does_not_advise_to_install_other_packages(tmp_path, name):
    settings = ANNOTATORS.build({"tool": "spacy", "model": name}, where="x")
    with pytest.raises(UserError, match=f"no spaCy pipeline '{name}'") as error:
        open_annotator(settings, AnnotationTask(side="source", language="cs", model_folders=(tmp_path,))).__enter__()
    for sentence in (*missing_models(settings, [tmp_path]), str(error.value)):
        assert name in sentence
        assert "install" not in sentence


PATHS = [
    "/models/parser",
    "models/parser",
    "./parser",
    "../parser",
    ".",
    "..",
    "",
    "a\\b",
    "par ser",
    "a\n",
    "parser/",
    "~",
]


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("tool", ["corenlp", "easyccg", "stanza", "spacy", "udpipe"])
def test_a_path_is_no_name_of_a_model(tmp_path, tool, name):
    with pytest.raises(UserError, match=r"^here: .*a model is a plain name .*`models` in config/config.yaml"):
        ANNOTATORS.build({"tool": tool, "model": name}, where="here")
    with pytest.raises(ValueError, match="a model is a plain name"):
        has_model(name, [tmp_path], tool=tool)
    with pytest.raises(UserError, match="parser: a model is a plain name"):
        find_model(name, [tmp_path], description="parser")


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """Return the file that a planted package writes when it is imported."""
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    return tmp_path / "mark"


def test_an_installed_pipeline_is_a_model_of_spacy_only(tmp_path, mark, monkeypatch):
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path / "site")])
    plant_package(tmp_path / "site" / "xx_pipeline")
    assert installed_pipeline("xx_pipeline") == tmp_path / "site" / "xx_pipeline"
    assert has_model("xx_pipeline", [], tool="spacy")
    assert not has_model("xx_pipeline", [], tool="stanza")
    assert not mark.exists(), "the package must not be imported"


@pytest.mark.parametrize(
    "meta", [None, "", "{", "[]", '{"name": "x"}', '{"lang": "xx"}', '"lang pipeline"', b"\xff".decode("latin-1")]
)
def test_a_package_without_the_metadata_of_a_pipeline_is_no_model(tmp_path, mark, monkeypatch, meta):
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path)])
    plant_package(tmp_path / "has_load", meta=meta)
    assert not has_model("has_load", [], tool="spacy")
    assert not mark.exists(), "the package must not be imported"


def test_a_pipeline_in_the_working_directory_is_not_installed(tmp_path, monkeypatch):
    plant_package(tmp_path / "xx_pipeline")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not has_model("xx_pipeline", [], tool="spacy")
