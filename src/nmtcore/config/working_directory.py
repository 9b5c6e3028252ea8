"""The project in the working directory, for commands outside the workflow."""

from pathlib import Path

from nmtcore.config.project_settings import read_project_settings
from nmtcore.config.yaml_files import config_file, read_yaml


def project_model_folders(bundle: Path) -> tuple[Path, ...]:
    """Return the folders of annotators' models in the working directory's config/config.yaml; empty without that file.

    A configuration inside `bundle`, a trained model that may come from somebody else, is never read, even if it is in
    the working directory. Raises `UserError` if the configuration is not valid.
    """
    path = config_file("config")
    if not path.is_file() or path.resolve().is_relative_to(bundle.resolve()):
        return ()
    return read_project_settings(read_yaml(path), where=str(path)).model_folders
