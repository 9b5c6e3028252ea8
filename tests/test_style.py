"""Conventions of names and prose (CONTRIBUTING.md, "Rules") that a program can check."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

ROW_A = re.compile(
    r"\ba (row|file|job|line|shard|word|token|run|sentence|value|column|seed|batch|process|pair|rule) (a|an) "
)
"""A rate without "per": one row per sentence is plain, but not without the preposition."""

VAGUE_NAMES = {"kind", "found", "look", "remember", "leave", "store", "team", "Stock", "beside", "Heads"}
"""Names that say nothing of what they name; `kind` is allowed as a field of settings, where YAML has the key."""

BEGINS = {".py": ('"""', 'r"""'), ".smk": ("# ", '"""'), ".yaml": "# ", ".yml": "# ", ".sh": "#", ".toml": "# "}


def tracked_files() -> list[Path]:
    """List the files of the repository, or of an unpacked archive."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        folders = ("src", "tests", "config", "workflow", "benchmarks", "docs", "profiles")
        return [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]


FILES = [path for path in tracked_files() if "__pycache__" not in path.parts]
TEXTS = [path for path in FILES if path.suffix in (*BEGINS, ".md", ".cff") or path.name in ("Makefile", "Snakefile")]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES if path.suffix == ".py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def legend() -> set[str]:
    """Return the letters that may stand in the names of arrays."""
    docstring = ast.get_docstring(ast.parse((ROOT / "src/nmtcore/__init__.py").read_text(encoding="utf-8")))
    return set(re.findall(r"^ +([A-Z])  ", docstring, re.MULTILINE))


def fields(tree: ast.Module) -> list[ast.Name]:
    """Return the names of the annotated fields of all classes (`kind: Literal[...]`)."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [field.target for cls in classes for field in cls.body if isinstance(field, ast.AnnAssign)]


def identifiers(tree: ast.Module) -> Iterator[str]:
    """Yield the names of all that a module defines or assigns, except for fields of classes called `kind`."""
    kinds = [id(target) for target in fields(tree) if target.id == "kind"]
    for node in ast.walk(tree):
        if id(node) in kinds:
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def test_rates_have_a_preposition():
    matches = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if ROW_A.search(line)
    ]
    assert not matches, "\n".join(matches)


def test_a_file_begins_with_what_it_is_for():
    wrong = []
    for path in (path for path in FILES if path.suffix in BEGINS):
        text = path.read_text(encoding="utf-8")
        described = path.suffix in (".yaml", ".yml") and re.search(r"^description: ", text, re.MULTILINE)
        if not described and not text.startswith(BEGINS[path.suffix]):
            wrong.append(f"{name_of(path)} begins with {text[:60]!r}")
    assert not wrong, "\n".join(wrong)


def test_a_module_begins_with_a_sentence():
    for path, tree in TREES.items():
        docstring = ast.get_docstring(tree)
        assert docstring, f"{name_of(path)} has no docstring"
        assert docstring.split("\n\n")[0].rstrip()[-1] in ".:", f"{name_of(path)}: {docstring}"


def test_names_are_specific():
    vague = {name_of(path): sorted(VAGUE_NAMES & set(identifiers(tree))) for path, tree in TREES.items()}
    assert not any(vague.values()), {name: names for name, names in vague.items() if names}


def test_letters_of_arrays_are_in_the_legend():
    letters, unknown = legend(), []
    assert len(letters) > 10
    for path, tree in TREES.items():
        if "src" not in path.relative_to(ROOT).parts:
            continue
        for name in identifiers(tree):
            match = re.fullmatch(r"_?[a-z][a-z0-9_]*_([A-Z0-9]+)", name)
            if match and {letter for letter in match.group(1) if letter.isalpha()} - letters:
                unknown.append(f"{name_of(path)}: {name}")
    assert not unknown, unknown


def test_lines_of_pages_fit():
    # Rows of tables cannot be wrapped.
    long = [
        f"{name_of(path)}:{number}"
        for path in (path for path in FILES if path.suffix == ".md")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > 120 and not line.startswith("|")
    ]
    assert not long, long


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 200
