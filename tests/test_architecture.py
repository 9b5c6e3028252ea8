"""The order of the packages, what planning loads, and what must be kept equal by hand."""

import ast
import graphlib
import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project

STAGES = (
    "demo", "corpus", "annotation", "segmentation", "features", "model", "training", "inference", "evaluation",
    "reporting",
)  # fmt: skip
BESIDE = {"syntax", "config", "layout", "errors", "files", "parquet"}
"""What every stage may import."""
GROUND = {"syntax", "config", "layout", "errors", "files"}
"""What syntax and config may import."""
PLANNING = {"planning", "config", "layout", "corpus", "annotation", "errors", "files"}
"""What planning may import."""
ABOVE = {"experiment", "cli", "job", "unfinished"}
"""What puts stages together: nothing below imports it."""
NUMBERS = {"numpy", "pyarrow", "safetensors"}
LIGHT = {"config", "features", "model", "training", "inference"}
"""Packages that import only torch and `NUMBERS`, beside the standard library, when they are loaded."""
TORCH = {"model", "training", "inference", "experiment"}

PACKAGE = Path(__file__).resolve().parent.parent / "src/nmtcore"
FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(nodes):
    """The modules that some statements import, by their full names."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (
                [f"nmtcore.{alias.name}" for alias in node.names] if node.module == "nmtcore" else [node.module]
            )


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def at_load(tree):
    """The statements that run when a module is loaded: not those in functions, nor for type checkers only."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_to_the_left(path):
    own = name_of(path)
    if own in ABOVE or path == PACKAGE / "__init__.py" or own == "__main__":
        return
    used = {name.split(".")[1] for name in imported(ast.walk(tree_of(path))) if name.startswith("nmtcore.")}
    if own in STAGES:
        allowed = {*STAGES[: STAGES.index(own) + 1], *BESIDE}
    elif own == "planning":
        allowed = PLANNING
    else:
        assert own in BESIDE, f"{own} has no place in the order of the packages"
        allowed = GROUND if own in ("syntax", "config") else {"errors", "files", "parquet"}
    assert used <= allowed, f"{own} imports {sorted(used - allowed)}"


def import_graph(package):
    """Which modules of a package each of them imports anywhere: in functions and for type checkers too."""
    names = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(package.rglob("*.py"))
    }
    graph = {}
    for name, path in names.items():
        nodes = list(ast.walk(tree_of(path)))
        members = (
            f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
        )
        graph[name] = ({*imported(nodes), *members} & names.keys()) - {name}
    return graph


def circle_in(graph):
    """A circle of imports, as the modules on the way round; None where there is none."""
    try:
        tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_no_module_imports_itself_in_a_circle():
    graph = import_graph(PACKAGE)
    assert len(graph) == len(FILES)
    assert circle_in(graph) is None


@pytest.mark.parametrize(
    "statement",
    [
        "from p.b import x",
        "from p import b",
        "import p.b",
        "if TYPE_CHECKING:\n    from p.b import x",
        "def f():\n    import p.b",
    ],
)
def test_a_circle_is_found_wherever_its_imports_stand(tmp_path, statement):
    package = tmp_path / "p"
    package.mkdir()
    for name, text in {"__init__": "", "a": statement, "b": "from p.c import x", "c": "import torch"}.items():
        (package / f"{name}.py").write_text(text)
    assert circle_in(import_graph(package)) is None
    (package / "c.py").write_text("def f():\n    from p.a import x")
    assert set(circle_in(import_graph(package))) == {"p.a", "p.b", "p.c"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_are_imported_where_they_are_used(path):
    own = name_of(path)
    others = (
        {name.split(".")[0] for name in imported(at_load(tree_of(path)))} - set(sys.stdlib_module_names) - {"nmtcore"}
    )
    allowed = NUMBERS | ({"torch"} if own in TORCH else set())
    if own == "config":
        allowed = {"yaml"}
    assert others <= allowed, f"{path} loads {sorted(others - allowed)}"


def test_planning_every_run_loads_nothing_heavy(root):
    code = (
        "import sys\n"
        "from nmtcore.config.project import Project\n"
        "import nmtcore.planning.nearest_target, nmtcore.config.versions, nmtcore.corpus.download, nmtcore.job\n"
        "from nmtcore.config.runs import run_to_json\n"
        "project = Project.load(sys.argv[1])\n"
        "run_to_json(project.run('cs2en', 'depparse_l4', 'paper', 1))\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    command = [sys.executable, "-c", code, str(root / "config")]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert "nmtcore" in loaded
    heavy = {"torch", "numpy", "pandas", "pyarrow", "spacy", "stanza", "sacrebleu", "sacremoses", "subword_nmt", "tqdm"}
    assert not loaded & heavy


def test_every_system_plans_on_every_data_set_at_smoke_scale_or_says_what_it_lacks(root):
    project = Project.load(root / "config")
    smoke, planned = project.scale("smoke"), set()
    for dataset, system in itertools.product(project.dataset_files, project.system_entries):
        try:
            run = project.run(dataset, system, "smoke", 1)
        except MissingAnnotation:
            continue
        assert (run.scale, run.model.width) == ("smoke", smoke.model["width"])
        assert run.training.max_updates <= smoke.training["max_updates"]
        planned.add(system)
    assert planned == set(project.system_entries)


def plain_name(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_conda_environment_has_the_versions_of_the_lock(root):
    pin = re.compile(r"^[\s-]*([A-Za-z0-9_.-]+)==([^\s;#]+)", re.MULTILINE)
    lock, conda = (
        {plain_name(name): version for name, version in pin.findall((root / file).read_text(encoding="utf-8"))}
        for file in ("requirements.lock", "envs/core.yaml")
    )
    assert conda == {name: lock.get(name) for name in conda}
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {plain_name(re.match(r"[\w.-]+", text).group()) for text in project["dependencies"]}
    assert {"torch", "numpy"} <= needed <= conda.keys()
