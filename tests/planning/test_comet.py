"""What is said of COMET before anything runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from nmtcore.config.project import CometSettings, ProjectSettings
from nmtcore.errors import UserError
from nmtcore.planning.evaluation import comet_checkpoint, comet_obstacles


@pytest.fixture
def settings(tmp_path: Path) -> ProjectSettings:
    """The settings of a project whose models are in the folder `mine`."""
    return ProjectSettings(models=(str(tmp_path / "mine"),), comet=CometSettings(model="small-comet"))


def write_model(folder: Path) -> None:
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints/model.ckpt").write_text("")
    (folder / "hparams.yaml").write_text("")


def test_a_model_is_a_folder_with_a_checkpoint_and_its_settings(tmp_path: Path, settings):
    folder = tmp_path / "mine/small-comet"
    with pytest.raises(UserError) as error:
        comet_checkpoint(settings)
    searched = f"looked for it at {folder}, manual/models/small-comet, downloads/models/small-comet. Put the files of"
    assert searched in str(error.value)
    write_model(folder)
    assert comet_checkpoint(settings) == folder.resolve() / "checkpoints/model.ckpt"
    (folder / "hparams.yaml").unlink()
    with pytest.raises(UserError, match=r"There is no COMET model 'small-comet' \(a folder that holds hparams.yaml"):
        comet_checkpoint(settings)
    with pytest.raises(ValueError, match="a model is a plain name"):
        CometSettings(model="../elsewhere")


def test_comet_needs_conda_or_a_python_of_its_own(tmp_path: Path, settings):
    def obstacles(python, with_conda):
        return comet_obstacles(replace(settings, comet=replace(settings.comet, python=python)), with_conda=with_conda)

    assert len(obstacles(None, with_conda=False)) == 2
    write_model(tmp_path / "mine/small-comet")
    assert obstacles(None, with_conda=True) == obstacles("python3", with_conda=False) == []
    (sentence,) = obstacles(None, with_conda=False)
    assert "--software-deployment-method conda" in sentence
    (sentence,) = obstacles("/no/python", with_conda=False)
    assert sentence == "comet.python in config.yaml: there is no program /no/python; name a Python interpreter."
