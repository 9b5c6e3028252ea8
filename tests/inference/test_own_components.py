"""Models with a component of the user's own: they carry a copy, and take the component from the working folder."""

import pytest
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.components import component_settings
from nmtcore.errors import UserError
from nmtcore.inference.bundle import load_bundle
from nmtcore.planning.new_component import new_component_files

WRITTEN = "return embedded_BSD + self.settings.strength * self.vector_D.to(embedded_BSD.dtype)\n"


class NoSystems:
    """A project without systems."""

    system_entries = ()


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The file of the component `shift` in the working folder."""
    path, *_ = files = new_component_files("shift", NoSystems(), tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(files[path].replace("return embedded_BSD\n", WRITTEN), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def model(code, tmp_path):
    """A bundle with the component."""
    return write_bundle(tmp_path / "model", run_settings(component_settings("shift", {}, where="test")))


def test_a_model_with_an_own_component_translates(model, code):
    assert (model / "own.shift.py").read_text(encoding="utf-8") == code.read_text(encoding="utf-8")
    assert len(list(load_bundle(model).translate(["the cat", ""]))) == 2


def test_the_copy_is_never_run(model, code, tmp_path, monkeypatch):
    code.unlink()
    with pytest.raises(UserError, match="has a component of its author's own, 'shift', which is not at config/comp"):
        load_bundle(model)
    own = model / "config/components/shift.py"
    own.parent.mkdir(parents=True)
    own.write_text((model / "own.shift.py").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(model)
    with pytest.raises(UserError, match="has a component of its author's own"):
        load_bundle(model)


def test_another_version_is_refused_unless_only_comments_differ(model, code):
    text = code.read_text(encoding="utf-8")
    code.write_text(f"# A comment.\n{text}", encoding="utf-8")
    assert load_bundle(model).translate(["the cat"])
    code.write_text(text.replace(WRITTEN, WRITTEN.replace("+", "-")), encoding="utf-8")
    with pytest.raises(UserError, match=r"another version of config/components/shift.py, which is .*own"):
        load_bundle(model)
