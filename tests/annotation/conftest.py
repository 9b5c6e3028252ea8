"""A fake `java` command."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture
def fake_java(tmp_path, monkeypatch):
    """Put `fake_java.py` first on the PATH; return the folder of (empty) models, and the ids of started processes."""
    script = tmp_path / "bin" / "java"
    script.parent.mkdir()
    code = (Path(__file__).parent.parent / "fake_java.py").read_text("utf-8")
    script.write_text(f"#!{sys.executable} -S\n{code}", "utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    for name in ("corenlp/stanford-corenlp-4.jar", "easyccg/easyccg.jar", "easyccg/model/categories"):
        (tmp_path / "models" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / name).touch()

    def started():
        return [int(line) for line in (tmp_path / "log").read_text("utf-8").split()]

    return SimpleNamespace(models=tmp_path / "models", started=started)
