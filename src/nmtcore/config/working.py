"""The project that the user stands in, for commands outside the workflow."""

from pathlib import Path

from nmtcore.config.project import ProjectSettings
from nmtcore.config.typed import build
from nmtcore.config.yaml_files import read_yaml

CONFIG = Path("config") / "config.yaml"
"""The configuration, as the workflow finds it: relative to the working directory."""


def project_model_folders(bundle: Path) -> tuple[Path, ...]:
    """Give the folders of annotators' models that config/config.yaml in the working directory names; none without it.

    The configuration is the user's. One inside `bundle`, a trained model that others may have sent, is not read, even
    where the user stands in there. A broken one is a `UserError`.
    """
    if not CONFIG.is_file() or CONFIG.resolve().is_relative_to(bundle.resolve()):
        return ()
    return build(ProjectSettings, read_yaml(CONFIG), where=str(CONFIG)).model_folders
