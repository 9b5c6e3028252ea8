"""Damaged configuration files, up to the plan of a run."""

import shutil
from functools import cache
from pathlib import Path
from random import Random

import yaml
from campaigns.damage import damaged_bytes, damaged_value
from campaigns.run import ROOT

from nmtcore.config.project import Project

FILES = (
    "config.yaml", "datasets/demo_en2de.yaml", "datasets/multi30k_cs2en.yaml", "recipes/small.yaml",
    "scales/smoke.yaml", "systems/pham2018.yaml", "systems/baselines.yaml",
)  # fmt: skip


@cache
def _names() -> tuple[str, ...]:
    return tuple(name for name in FILES if (ROOT / "config" / name).exists())


def attempt(random: Random, folder: Path) -> str:
    """Load a configuration with a damaged file, and assemble runs."""
    config = folder / "config"
    shutil.copytree(ROOT / "config", config, ignore=shutil.ignore_patterns("*.md", "schemas", "tables", "published*"))
    path = config / random.choice(_names())
    if random.random() < 0.3:
        path.write_bytes(damaged_bytes(path.read_bytes(), random))
    else:
        values = yaml.safe_load(path.read_text())
        for _ in range(random.choice((1, 1, 2))):
            values = damaged_value(values, random)
        path.write_text(yaml.safe_dump(values, allow_unicode=False))
    project = Project.load(config)
    for dataset, system in (("demo_en2de", "transformer_base"), ("multi30k_cs2en", "depparse_l1")):
        project.run(dataset, system, "smoke", 1)
    return "clean"
