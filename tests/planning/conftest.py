"""Projects with the repository's data sets and some that only tests have."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from workflow.calling import little

from nmtcore.config.project import Project

TREEBANK = {"format": "conllu", "files": {"source": {"name": "gold/en.conllu", "mirrors": [{"path": "en.conllu"}]}}}
PARSER = {"tool": "spacy", "model": "xx_trees", "shards": 3}


def parsed(**changes: object) -> dict:
    """A data set whose source is parsed by `trees`, with a treebank read by `gold`."""
    plain = little()
    return (
        little(
            corpora={**plain["corpora"], "bank": TREEBANK},
            splits={**plain["splits"], "gold_bank": "bank"},
            annotators={"trees": PARSER, "gold": {"tool": "existing"}},
            syntax={"source": {"dependencies": "trees", "tags": "trees"}},
        )
        | changes
    )


@pytest.fixture
def make_project(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Project]:
    """Make a project in an empty working directory from settings of config.yaml, files by name, and data sets."""
    monkeypatch.chdir(tmp_path)

    def make(settings: dict | None = None, files: dict | None = None, **datasets: dict) -> Project:
        (tmp_path / "config").mkdir(exist_ok=True)
        for name, values in {**(files or {}), **{f"datasets/{name}": datasets[name] for name in datasets}}.items():
            path = tmp_path / f"config/{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
        configured = {"datasets": list(datasets), "scale": "smoke", "seeds": [1, 2]}
        return Project([tmp_path / "config", root / "config"], configured | (settings or {}))

    return make
