import pytest

from nmtcore.annotation.models import find_model
from nmtcore.config.models import model_at_hand
from nmtcore.errors import UserError


def test_the_first_folder_that_has_it_wins(tmp_path):
    for name in ("first", "second", "third"):
        (tmp_path / name / "parser").mkdir(parents=True)
    for name in ("second", "third"):
        (tmp_path / name / "parser" / "model.pt").write_text("")
    folders = [tmp_path / name for name in ("first", "second", "third")]
    found = find_model("parser", folders, what="parser", holds="*.pt")
    assert found == (tmp_path / "second" / "parser").resolve()
    assert find_model(str(tmp_path / "third" / "parser"), [], what="parser", holds="*.pt").parent.name == "third"


def test_a_file_is_found_by_its_name_or_alone_in_a_folder(tmp_path):
    (tmp_path / "a.model").write_text("")
    assert find_model("a.model", [tmp_path], what="parser") == (tmp_path / "a.model").resolve()
    (tmp_path / "b").mkdir()
    for name in ("x.model", "x.model.json", ".x.model.known.json"):
        (tmp_path / "b" / name).write_text("")
    assert find_model("b", [tmp_path], what="parser").name == "x.model"
    (tmp_path / "b" / "y.model").write_text("")
    with pytest.raises(UserError, match="There is no parser 'b'"):
        find_model("b", [tmp_path], what="parser")


def test_an_environment_variable_may_name_the_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    assert not model_at_hand("corenlp", [tmp_path])
    (tmp_path / "corenlp").mkdir()
    assert not model_at_hand("corenlp", [tmp_path]), "an empty folder is no model"
    (tmp_path / "x.jar").write_text("")
    monkeypatch.setenv("CORENLP_HOME", str(tmp_path))
    assert model_at_hand("corenlp", [])
    assert find_model("corenlp", [], what="CoreNLP", holds="*.jar") == tmp_path.resolve()


def test_a_missing_model_names_every_place(tmp_path):
    with pytest.raises(UserError) as error:
        find_model("parser", [tmp_path / "p", tmp_path / "q"], what="spaCy pipeline", holds="meta.json")
    for part in ("'parser'", str(tmp_path / "p" / "parser"), str(tmp_path / "q" / "parser"), "config/models"):
        assert part in str(error.value)
