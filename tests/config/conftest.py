"""The repository's project, and projects with files of the user's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from publishing import write_settings

from nmtcore.config.project import Project


@pytest.fixture(scope="session")
def project(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The repository's project, which keeps the runs that it assembled, with the published model of its systems."""
    folder = tmp_path_factory.mktemp("published")
    write_settings(folder / "opus-mt-en-de", 60_000)
    return Project.load(root / "config", models=[str(folder)])


@pytest.fixture
def own_project(root: Path, tmp_path: Path) -> Callable[..., Project]:
    """Write the user's own files, {"systems/mine": values or text}, and read them with the repository's."""

    def make(files: dict[str, Any], **settings: object) -> Project:
        for name, values in files.items():
            path = tmp_path / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = values if isinstance(values, str) else yaml.safe_dump(values, sort_keys=False)
            path.write_text(text, encoding="utf-8")
        return Project([tmp_path, root / "config"], settings)

    return make
