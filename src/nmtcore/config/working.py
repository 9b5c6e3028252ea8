"""The project that the user stands in, for commands outside the workflow."""

from pathlib import Path

from nmtcore.config.project_settings import read_project_settings
from nmtcore.config.yaml_files import config_file, read_yaml


def project_model_folders(bundle: Path) -> tuple[Path, ...]:
    """Give the folders of annotators' models that config/config.yaml in the working directory names; none without it.

    The configuration is the user's. One inside `bundle`, a trained model that others may have sent, is not read, even
    where the user stands in there. A broken one is a `UserError`.
    """
    path = config_file("config")
    if not path.is_file() or path.resolve().is_relative_to(bundle.resolve()):
        return ()
    return read_project_settings(read_yaml(path), where=str(path)).model_folders
