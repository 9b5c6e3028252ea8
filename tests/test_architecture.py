"""The order of imports, the packages that planning loads, and versions that are kept equal by hand."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

STAGES = (
    "corpus", "annotation", "segmentation", "features", "model", "training", "inference", "evaluation",
    "drawing", "planning", "tables", "reporting",
)  # fmt: skip
SHARED = {"syntax", "config", "layout", "errors", "files", "gpus", "lock", "memory", "parquet", "written"}
"""Modules that every stage may import."""
BASE = {"syntax", "config", "layout", "errors", "files"}
"""Modules that syntax and config may import."""
PLANNING = {"planning", "config", "layout", "corpus", "annotation", "errors", "files", "written"}
"""Modules that planning may import."""
NEW = {*PLANNING, "evaluation", "parquet", "tables", "new"}
"""Modules that `nmtcore new` and `nmtcore check` may import."""
ABOVE = {"experiment", "cli", "job", "api", "schemas"}
"""Modules that combine stages; no other module imports them."""
NUMBERS = {"numpy", "pyarrow", "safetensors"}
"""Packages that every stage may import at the top level."""
TORCH = {"model", "training", "inference", "experiment"}
"""Stages that may also import torch at the top level."""

PACKAGE = Path(__file__).resolve().parent.parent / "src/nmtcore"
FILES = sorted(PACKAGE.rglob("*.py"))


def package_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(nodes):
    """Yield the full names of the modules that statements import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (
                [f"nmtcore.{alias.name}" for alias in node.names] if node.module == "nmtcore" else [node.module]
            )


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def at_load(tree):
    """Yield the statements that run when a module is imported, without functions and `TYPE_CHECKING` blocks."""
    remaining = list(tree.body)
    while remaining:
        node = remaining.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        remaining += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]


def allowed_parts(own):
    """Return the parts of the package that a part may import."""
    if own in ("planning", "new"):
        return PLANNING if own == "planning" else NEW
    if own == "tables":  # until what writes and draws tables lies there, too
        return {*STAGES, *SHARED}
    if own in STAGES:
        return {*STAGES[: STAGES.index(own) + 1], *SHARED}
    assert own in SHARED, f"{own} is missing in the order of the packages"
    return BASE if own in ("syntax", "config") else {"errors", "files", "parquet", "layout"}


def test_modules_only_import_earlier_stages():
    faults = []
    for path in FILES:
        own = package_of(path)
        if own in ABOVE or path == PACKAGE / "__init__.py" or own == "__main__":
            continue
        used = {name.split(".")[1] for name in imported(ast.walk(tree_of(path))) if name.startswith("nmtcore.")}
        if not used <= allowed_parts(own):
            faults.append(f"{path.relative_to(PACKAGE)} imports {sorted(used - allowed_parts(own))}")
    assert not faults, "\n".join(faults)


def import_graph(package):
    """Map each module of a package to the modules that it imports anywhere, even in functions or for type checkers."""
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


def test_there_is_no_import_cycle():
    graph = import_graph(PACKAGE)
    assert len(graph) == len(FILES)
    tuple(graphlib.TopologicalSorter(graph).static_order())


def test_heavy_packages_are_imported_in_functions():
    faults = []
    for path in FILES:
        own, names = package_of(path), {name.split(".")[0] for name in imported(at_load(tree_of(path)))}
        allowed = (
            {"yaml", "pydantic", "pydantic_core"}
            if own in ("config", "schemas")
            else NUMBERS | ({"torch"} if own in TORCH else set())
        )
        heavy = names - set(sys.stdlib_module_names) - {"nmtcore", "typing_extensions"} - allowed
        if heavy:
            faults.append(f"{path.relative_to(PACKAGE)} loads {sorted(heavy)}")
    assert not faults, "\n".join(faults)


def test_planning_loads_no_heavy_packages(root):
    """Neither do the imports of the Snakefile, nor does a run."""
    rules = [root / "Snakefile", *(root / "workflow/rules").glob("*.smk")]
    text = "".join(path.read_text(encoding="utf-8") for path in rules)
    names = sorted(set(re.findall(r"^from (nmtcore\S*) import", text, re.MULTILINE)))
    assert {"nmtcore.config.project", "nmtcore.corpus.sources", "nmtcore.job"} <= set(names)
    code = (
        f"import sys, {', '.join(names)}, nmtcore.config.runs, nmtcore.planning.targets, nmtcore.config.runs\n"
        "project = nmtcore.config.project.Project.load(sys.argv[1])\n"
        "nmtcore.config.runs.run_to_json(project.run('cs2en', 'depparse_l4', 'paper', 1))\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    command = [sys.executable, "-c", code, str(root / "config")]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert "nmtcore" in loaded
    heavy = {"torch", "numpy", "pandas", "pyarrow", "spacy", "stanza", "sacrebleu", "sacremoses", "subword_nmt", "tqdm"}
    assert not loaded & {*heavy, "matplotlib"}


def normalised_name(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_conda_environment_has_the_locked_versions(root):
    pin = re.compile(r"^[\s-]*([A-Za-z0-9_.-]+)==([^\s;#]+)", re.MULTILINE)
    lock, conda = (
        {normalised_name(name): version for name, version in pin.findall((root / file).read_text(encoding="utf-8"))}
        for file in ("requirements.lock", "envs/core.yaml")
    )
    assert conda == {name: lock.get(name) for name in conda}
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {normalised_name(re.match(r"[\w.-]+", text).group()) for text in project["dependencies"]}
    assert {"torch", "numpy"} <= needed <= conda.keys()


def test_the_package_is_installed_with_all_its_files(root):
    setuptools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    declared = {path for pattern in setuptools["package-data"]["nmtcore"] for path in PACKAGE.glob(pattern)}
    others = {path for path in PACKAGE.rglob("*.*") if path.suffix not in (".py", ".pyc")}
    assert others == declared != set()
