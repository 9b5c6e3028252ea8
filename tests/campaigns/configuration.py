"""Damaged configuration files, up to the plan of a run."""

import re
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

_CHAIN = ", ".join(f"l{i}: &l{i} {{<<: [{', '.join([f'*l{i - 1}'] * 10)}]}}" for i in range(1, 10))
ODD_VALUES = (
    "!!set {a, b}", "!!binary aGVsbG8=", "!!bool maybe", "!!int ''", "!!map [1]", "!!omap [a: 1]", "!!timestamp x",
    "! x", "!!python/object/apply:os.system [ls]", f"!{'k' * 5000} x", "2024-01-01", "2024-13-45", "0x" + "f" * 6000,
    "1" + ":1" * 3000, "1" + ":1" * 3000 + ".5", ".nan", "1e999", "0777", "1_0", "1:30", "=", "*undefined",
    "{l0: &l0 {k: 1}, " + _CHAIN + "}", "&x {<<: *x}", "{<<: 5}", "{<<: [{a: 1}, {a: 2}]}", "{? [x] : y}",
    "{a: 1, a: 2}", "[" * 100_000, r'"\e[2J\u202e"', r'"a\0b"', "'" + "n" * 5000 + "'", "../../../etc/passwd",
)  # fmt: skip
"""Values that only the text of a file can have: tags, merged mappings, aliases, odd numbers."""
_VALUE = re.compile(rb"^(\s*[\w-]+:) .*", re.MULTILINE)


@cache
def _names() -> tuple[str, ...]:
    return tuple(name for name in FILES if (ROOT / "config" / name).exists())


def attempt(random: Random, folder: Path) -> str:
    """Load a configuration with a damaged file, and assemble runs."""
    config = folder / "config"
    shutil.copytree(ROOT / "config", config, ignore=shutil.ignore_patterns("*.md", "schemas", "tables", "published*"))
    path = config / random.choice(_names())
    if (draw := random.random()) < 0.2:
        text = path.read_bytes()
        value = random.choice(list(_VALUE.finditer(text)))
        path.write_bytes(text[: value.end(1)] + b" " + random.choice(ODD_VALUES).encode() + text[value.end() :])
    elif draw < 0.5:
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
