"""The example of CONTRIBUTING.md is a component, and its own tests pass."""

import re
import sys
from types import ModuleType

import pytest

from nmtcore.config.components import COMPONENTS
from nmtcore.config.project import Project

BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.DOTALL)
MODULES = ("nmtcore.config.components.root_vector", "nmtcore.model.components.root_vector", "test_root_vector")
SYSTEM = re.compile(r"`root_vector: (\{extends: transformer_base, .*\})`")


@pytest.fixture
def modules(root, monkeypatch):
    """The three modules of the example, with its settings registered."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    modules = [ModuleType(name) for name in MODULES]
    for module, block in zip(modules, BLOCK.findall(text), strict=True):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(block, module.__name__, "exec"), vars(module))
    monkeypatch.setattr(COMPONENTS, "_classes", {**COMPONENTS._classes, "root_vector": modules[0].RootVectorSettings})
    return modules


def test_the_tests_of_the_example_pass(modules, make, draw):
    tests = [value for name, value in vars(modules[-1]).items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test(make, draw)


def test_the_system_of_the_example_can_be_planned(modules, root, tmp_path):
    (entry,) = SYSTEM.findall((root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    systems = tmp_path / "config/systems/mine.yaml"
    systems.parent.mkdir(parents=True)
    systems.write_text(f"example: {entry}", encoding="utf-8")
    run = Project([tmp_path / "config", root / "config"], {}).run("demo_en2de", "example", "smoke", 1)
    assert run.components == {"root_vector": modules[0].RootVectorSettings()}
