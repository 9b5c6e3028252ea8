"""The search for annotators' models."""

import pytest
from planted_models import plant_package

from nmtcore.annotation.base import AnnotationTask, open_annotator
from nmtcore.annotation.models import find_model, has_model, installed_pipeline, missing_models
from nmtcore.config.datasets import ANNOTATORS
from nmtcore.errors import UserError

FILES = {
    "corenlp": "stanford-corenlp-4.5.10.jar",
    "easyccg": "easyccg.jar",
    "stanza": "depparse.pt",
    "spacy": "meta.json",
    "udpipe": "any.udpipe",
}
"""Tool → a file of its models."""


def write(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_a_file_is_found_by_its_name_or_as_the_only_file_of_a_folder(tmp_path):
    path = write(tmp_path / "a.model")
    assert find_model("a.model", [tmp_path], description="parser") == path.resolve()
    for name in ("x.model", "x.model.json", ".x.model.known.json"):
        write(tmp_path / "b" / name)
    assert find_model("b", [tmp_path], description="parser").name == "x.model"
    write(tmp_path / "b" / "y.model")
    with pytest.raises(UserError, match="There is no parser 'b'"):
        find_model("b", [tmp_path], description="parser")


@pytest.mark.parametrize(("tool", "file"), FILES.items())
def test_only_the_users_folders_are_searched(tmp_path, monkeypatch, tool, file):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "corenlp" / file)
    path = write(tmp_path / "models" / "corenlp" / file)
    assert not has_model("corenlp", [], tool=tool), "the working directory is not searched"
    assert has_model("corenlp", ["models"], tool=tool)
    assert not has_model("other", ["models"], tool=tool)
    path.rename(path.with_name(".hidden"))
    assert not has_model("corenlp", ["models"], tool=tool), "a folder without the model's file is no model"


@pytest.mark.parametrize(
    ("name", "advised"),
    [
        ("en_core_web_sm", True),
        *((name, False) for name in ("os", "cs_ud", "a-b_core_web_sm")),
    ],
)
def test_the_error_advises_to_install_spacys_own_pipelines_and_no_other_package(tmp_path, name, advised):
    settings = ANNOTATORS.build({"tool": "spacy", "model": name}, where="x")
    with pytest.raises(UserError, match=f"no spaCy model '{name}'") as error:
        open_annotator(settings, AnnotationTask(side="source", language="cs", model_folders=(tmp_path,))).load()
    for sentence in (*missing_models(settings, [tmp_path]), str(error.value)):
        assert sentence.endswith(f" Or install it as a package: python -m spacy download {name}.") == advised
        assert ("install" in sentence) == advised


@pytest.mark.parametrize("name", ["/models/parser", "../parser", ".", "", "a\n"])
@pytest.mark.parametrize("tool", ["corenlp", "spacy"])
def test_a_path_is_no_name_of_a_model(tmp_path, tool, name):
    with pytest.raises(UserError, match=r"^here: .*a model is a plain name .*`models` in config/config.yaml"):
        ANNOTATORS.build({"tool": tool, "model": name}, where="here")
    with pytest.raises(ValueError, match="a model is a plain name"):
        has_model(name, [tmp_path], tool=tool)
    with pytest.raises(UserError, match="parser: a model is a plain name"):
        find_model(name, [tmp_path], description="parser")


@pytest.mark.parametrize(
    ("meta", "is_pipeline"),
    [
        ('{"lang": "xx", "pipeline": ["parser"]}', True),
        *((meta, False) for meta in (None, "{", "[]", '{"lang": "xx"}')),
    ],
)
def test_an_installed_package_is_a_model_of_spacy_if_its_metadata_say_so(tmp_path, monkeypatch, meta, is_pipeline):
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path / "site")])
    plant_package(tmp_path / "site" / "xx_pipeline", meta=meta)
    assert installed_pipeline("xx_pipeline") == (tmp_path / "site" / "xx_pipeline" if is_pipeline else None)
    assert has_model("xx_pipeline", [], tool="spacy") == is_pipeline
    assert not has_model("xx_pipeline", [], tool="stanza")
    assert not (tmp_path / "mark").exists(), "the package must not be imported"
