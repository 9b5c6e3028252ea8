"""A fake `java` command."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture
def fake_java(tmp_path, monkeypatch):
    """Put `fake_java.py` first on the PATH; return folders of (empty) models and temporary files, and process ids."""
    script = tmp_path / "bin" / "java"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable} -S\n" + (Path(__file__).parent.parent / "fake_java.py").read_text("utf-8"), "utf-8"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    for name in ("corenlp/stanford-corenlp-4.jar", "easyccg/easyccg.jar", "easyccg/model/categories"):
        (tmp_path / "models" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / name).touch()

    def started():
        lines = (tmp_path / "log").read_text("utf-8").splitlines()
        return [int(line.split()[0]) for line in lines]

    return SimpleNamespace(models=tmp_path / "models", temporary=tmp_path / "temporary", started=started)
