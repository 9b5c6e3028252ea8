"""Files for a component of the user's own to begin with: its code, a system that has it, and a test that fails."""

import keyword
import re
from pathlib import Path

from nmtcore.config.components import COMPONENTS, RESERVED_NAMES
from nmtcore.config.project import Project
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, STAGES

_IMPORTED = ("build", "component", "context", "tensor")
"""Names whose classes would be called like those that the file imports."""

_CODE = '''"""The component {name}. Say here, in one sentence, what it does."""

import torch
from torch import Tensor, nn

from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.ranges import NonNegative, settings_class
from nmtcore.model.components.base import Build, Component, Context


@settings_class
class {class_name}Settings(ComponentSettings):
    """What a system can set: its keys below `components` and the name of the component.

    A component that reads trees of the source also has `needs = {{"source": ("trees",)}}`.
    """

    strength: NonNegative = 1.0
    """Factor of what the component adds; 0 gives the baseline."""


class {class_name}(Component):
    """The model's part; it overrides the hooks of `Component` that it needs, of which this is one."""

    def __init__(self, settings: {class_name}Settings, build: Build) -> None:
        super().__init__(settings, build)
        self.vector_D = nn.Parameter(torch.zeros(build.model.width))

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Change the embeddings of the source's subwords."""
        return embedded_BSD
'''

_SYSTEM = """# yaml-language-server: $schema=../schemas/systems.schema.json
# The system {name}: the base transformer with the component of config/components/{name}.py.
{name}:
  extends: transformer_base
  description: The base transformer with the component {name}
  components: {{{name}: {{strength: 1.0}}}}
"""

_TEST = '''"""What the component {name} must prove before it is trained."""

from pathlib import Path

import pytest

from nmtcore.config.components import COMPONENTS
from nmtcore.model.testing import change_by, change_by_batching, unused_parameters

FILE = "config/components/{name}.py"


@pytest.fixture(autouse=True)
def _working_folder(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[1])  # its config/components has the component


def _settings(**values):
    return COMPONENTS.build_named("{name}", values, where="test")


def test_the_component_changes_the_scores():
    """Away from its neutral setting it must have an effect."""
    assert change_by(_settings()) > 0, f"it changes nothing yet: write embed_source, or another hook, in {{FILE}}"


def test_with_strength_0_the_model_is_the_baseline():
    """Whatever its parameters are."""
    assert change_by(_settings(strength=0.0)) < 1e-9, "multiply what the component adds by self.settings.strength"


def test_a_sentence_has_the_same_scores_alone_and_in_a_batch():
    """Neither padding nor the other sentences of a batch count."""
    assert change_by_batching(_settings()) < 1e-9, "the component reads other sentences of the batch, or padding"


def test_every_parameter_learns():
    """A parameter without a gradient stays as it was drawn."""
    assert unused_parameters(_settings()) == [], "these parameters have no gradient: use them, or leave them out"
'''


def check_own_name(name: str, *, noun: str) -> None:
    """Raise `UserError` if a name cannot be that of a file and a key: its characters, or YAML's meaning (`on`)."""
    import yaml

    if not re.fullmatch(NAME, name):
        raise UserError(
            f"{quoted(name)} cannot be the name of a {noun}: a name has small letters, digits and single underscores, "
            "and begins with a letter."
        )
    if yaml.safe_load(name) != name:
        raise UserError(f"'{name}' means something else in YAML: choose another name.")


def class_name_of(name: str) -> str:
    """Return the name of the class of a component: RootVector for root_vector."""
    return "".join(part.capitalize() for part in name.split("_"))


def new_component_files(name: str, project: Project, folder: Path) -> dict[Path, str]:
    """Return the texts of a new component's files by their paths below `folder`: its code, its system and its test.

    Raises `UserError` if the name is not valid or taken, or if a file exists.
    """
    check_own_name(name, noun="component")
    if name in (*RESERVED_NAMES, *_IMPORTED, *STAGES) or keyword.iskeyword(class_name_of(name)):
        raise UserError(f"'{name}' means something else in nmtcore or Python: choose another name.")
    texts = {
        folder / "config/components" / f"{name}.py": _CODE,
        folder / "config/systems" / f"{name}.yaml": _SYSTEM,
        folder / "tests" / f"test_{name}.py": _TEST,
    }
    for path in texts:
        if path.exists():
            raise UserError(f"{path} exists already: choose another name, or remove the file.")
    if name in COMPONENTS:
        raise UserError(f"nmtcore itself has a component '{name}': choose another name.")
    if name in project.system_entries:
        raise UserError(f"{project.system_entries[name][0]} has a system '{name}': choose another name.")
    names = {"name": name, "class_name": class_name_of(name)}
    return {path: text.format(**names) for path, text in texts.items()}
