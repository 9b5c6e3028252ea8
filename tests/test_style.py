"""Style of the repository: first sentences of files, specific identifiers, one meaning per suffix letter."""

import ast
import collections
import itertools
import re
import subprocess
from pathlib import Path

import yaml

import nmtcore

ROOT = Path(__file__).resolve().parent.parent
NOT_OURS = {".git", ".venv", ".snakemake", "results", "downloads", "manual", "build", "dist"}
MISSING_PER = re.compile(
    r"\ba (row|file|job|line|shard|word|token|run|sentence|value|column|seed|batch|process|pair|rule) (a|an) "
)
"""Rates with an article instead of "per"."""
VAGUE = {"look", "remember", "leave", "store", "team", "Stock", "beside", "Heads", "kind", "found"}
"""Identifiers that do not say what they name."""
INTERFACES = ("corpus/formats/", "corpus/filters/", "annotation/")
"""Folders of modules that may define the same names."""
LEGEND = re.compile(r"^    ([A-Z])  ([^:\n]+)", re.M)
SUFFIX = re.compile(r"[a-z0-9]_([0-9]*[A-Z][0-9A-Z]*)$")


def repository_files() -> list[Path]:
    """Return the files of the repository: those that git tracks or, without git, all that it would not ignore."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        return [ROOT / name for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    paths = (path for path in sorted(ROOT.rglob("*")) if path.is_file())
    return [path for path in paths if not NOT_OURS.intersection(path.relative_to(ROOT).parts)]


FILES = repository_files()
PYTHON = [path for path in FILES if path.suffix == ".py"]
PACKAGE = [path for path in PYTHON if path.is_relative_to(ROOT / "src")]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def at(path: Path, line: int, fault: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {fault}"


def first_comment(text: str) -> str:
    """Return the comment that a file begins with, without the line that is for a program (`#!`)."""
    lines = [line for line in text.splitlines() if not line.startswith("#!")]
    comment = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return "\n".join(line.removeprefix("#").strip() for line in comment)


def introduction(path: Path) -> str | None:
    """Return the first paragraph of a file's docstring or comment; None for files that cannot have one."""
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(text_of(path))) or ""
    elif path.suffix in {".smk", ".yaml", ".yml", ".toml", ".sh"} or path.name in {"Makefile", "Snakefile", "run"}:
        text = first_comment(text_of(path))
    else:
        return None
    return text.partition("\n\n")[0]


def test_every_file_begins_with_a_sentence():
    """The `description` of a data set, a recipe, a scale... is one, too."""
    faults = []
    for path in FILES:
        text = introduction(path)
        if text == "" and path.is_relative_to(ROOT / "config"):
            text = yaml.safe_load(text_of(path)).get("description", "")
        elif text is not None and not re.search(r"[.:](\s|$)", text):
            text = ""
        if text == "":
            faults.append(at(path, 1, "no sentence says what the file is for"))
    assert not faults, "\n".join(faults)


def test_rates_have_per():
    faults = [
        at(path, number, line.strip())
        for path in FILES
        for number, line in enumerate(path.read_bytes().decode("utf-8", "ignore").splitlines(), start=1)
        if MISSING_PER.search(line)
    ]
    assert not faults, "\n".join(faults)


def identifiers(tree: ast.AST) -> set[tuple[str, int]]:
    """Return the names that a module defines or assigns, with their lines."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add((node.id, node.lineno))
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            names.add((node.attr, node.lineno))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add((node.name, node.lineno))
        elif isinstance(node, ast.arg):
            names.add((node.arg, node.lineno))
        elif isinstance(node, ast.alias) and node.asname:
            names.add((node.asname, node.lineno))
    return names


def settings_fields(tree: ast.AST) -> set[tuple[str, int]]:
    """Return the fields of classes whose names end in Settings, which are keys of YAML files, with their lines."""
    return {
        (field.target.id, field.target.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith("Settings")
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }


def test_identifiers_are_specific():
    faults = []
    for path in PYTHON:
        tree, vague = ast.parse(text_of(path)), VAGUE | ({"own"} if path in PACKAGE else set())
        for name, line in sorted(identifiers(tree) - settings_fields(tree), key=lambda item: item[1]):
            if name.strip("_") in vague:
                faults.append(at(path, line, name))
    assert not faults, "\n".join(faults)


def test_public_names_are_unique():
    """Except those of protocols and of implementations of one interface: formats, filters, annotators, languages."""
    modules = collections.defaultdict(list)
    for path in PACKAGE:
        module = str(path.relative_to(ROOT / "src")).removeprefix("nmtcore/")
        if not module.startswith(INTERFACES):
            for node in ast.parse(text_of(path)).body:
                is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
                if is_definition and "Protocol" not in {ast.unparse(base) for base in getattr(node, "bases", ())}:
                    modules[node.name].append(module)
    assert {name: files for name, files in modules.items() if len(files) > 1} == {}


def suffix_letters(tree: ast.AST) -> set[str]:
    """Return the letters at the ends of the names of a module's arrays."""
    suffixes = (SUFFIX.search(name) for name, _ in identifiers(tree))
    return {letter for suffix in suffixes if suffix for letter in filter(str.isalpha, suffix.group(1))}


def test_every_file_begins_with_the_letters_of_its_suffixes():
    """In the words of the legend, which has the letters of all files and no others."""
    legend, used, faults = dict(LEGEND.findall(nmtcore.__doc__)), set(), []
    for path in PACKAGE:
        tree = ast.parse(text_of(path))
        letters = sorted(suffix_letters(tree))
        line = f"Shapes: {', '.join(f'{letter} {legend.get(letter)}' for letter in letters)}." if letters else ""
        if line not in " ".join((ast.get_docstring(tree) or "").split()):
            faults.append(at(path, 1, f"its docstring must end with: {line}"))
        used.update(letters)
    assert not faults, "\n".join(faults)
    assert list(legend) == sorted(used)
