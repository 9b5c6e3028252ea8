"""What is said of metrics that are commands before anything runs."""

from pathlib import Path

import pytest

from nmtcore.config.project import ProjectSettings
from nmtcore.planning.evaluation import metric_model, metric_obstacles


def test_what_a_metric_lacks_is_said_in_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    settings = ProjectSettings(models=("mine",))
    model, conda = metric_obstacles(settings, "comet", with_conda=False)
    searched = (
        "looked for it at mine/wmt22-comet-da, manual/models/wmt22-comet-da, downloads/models/wmt22-comet-da. Put"
    )
    assert model.startswith(f"config/metrics/comet.yaml: there is no model 'wmt22-comet-da': {searched}")
    assert "comet needs an environment of its own: add --software-deployment-method conda, or write" in conda
    (tmp_path / "mine/wmt22-comet-da").mkdir(parents=True)
    assert metric_model(settings, "comet") == str(tmp_path / "mine/wmt22-comet-da")
    assert metric_obstacles(settings, "comet", with_conda=True) == []
    (tmp_path / "config/metrics").mkdir(parents=True)
    (tmp_path / "config/metrics/comet.yaml").write_text("environment: ../venv")
    (sentence,) = metric_obstacles(settings, "comet", with_conda=False)
    assert f"environment: there is none at {tmp_path}/venv: name a YAML file, or a folder with bin/" in sentence
    (tmp_path / "venv/bin").mkdir(parents=True)
    assert metric_obstacles(settings, "comet", with_conda=False) == []
