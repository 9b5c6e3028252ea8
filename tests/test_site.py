"""The documentation site and the tour: what they show, their links, and that they need nothing from elsewhere."""

import argparse
import ast
import html
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from browser import NARROW, WIDE
from conftest import skip_unless_ci
from forked import forked_programs

from nmtcore.cli import parser
from nmtcore.config.project import Project
from nmtcore.model.components.base import Component

try:
    import ipykernel  # noqa: F401
    import myst_nb  # noqa: F401
    from build_site import execute_tour
    from commands import commands_page
    from docstrings import explanation
    from mathml import equation
    from pages import addresses, menu
    from python import MODULES, python_reference
    from systems import PARTS, parts_of, system_pages
except ModuleNotFoundError as missing:
    skip_unless_ci(f"{missing.name}, a package of requirements-docs.lock, is not installed")

pytestmark = pytest.mark.needs("site")

ROOT = Path(__file__).resolve().parent.parent
EVERY_PART = [(part, name) for part, registry in PARTS.items() for name in registry]
NOTEBOOK = ROOT / "docs/tour.ipynb"
LESS = {
    "max_updates: 600": "max_updates: 300",
    "sentences: {dev: 200, test: 500}": "sentences: {train: 3000, dev: 20, test: 100}",
}
"""What tests change in the tour, which then has worse translations."""


@pytest.fixture(scope="module")
def project():
    return Project.load(ROOT / "config")


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    """The tour, executed once for all tests, with less of a corpus, fewer updates, and a workflow that forks."""
    folder = tmp_path_factory.mktemp("tour")
    text = NOTEBOOK.read_text(encoding="utf-8")
    for whole, part in LESS.items():
        assert text.count(whole) == 1
        text = text.replace(whole, part)
    (folder / "notebook.ipynb").write_text(text, encoding="utf-8")
    program = folder / "python"
    program.write_text(
        f'#!/bin/sh\n[ "$2" = snakemake ] || exec "{sys.executable}" "$@"\n'
        f'shift 2  # -m snakemake\nexec "{folder}/snakemake" "$@"\n'
    )
    program.chmod(0o755)
    python = f"--IPKernelApp.exec_lines=import sys; sys.executable = {str(program)!r}"
    with forked_programs(folder, {"snakemake": "forking_snakemake"}):
        execute_tour(folder / "notebook.ipynb", folder / "tour.ipynb", python)
    return folder / "tour.ipynb"


@pytest.fixture(scope="module")
def site(tour, tmp_path_factory):
    """The folder of the site, built with the executed tour as `make docs` does."""
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "docs/site/build_site.py", "--tour", str(tour), "--output", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, ""), built.stderr
    return folder


# The tour


def outputs_of(tour, code):
    """Return the outputs of the only cell that begins with `code`."""
    cells = nbformat.read(tour, as_version=4).cells
    (cell,) = [cell for cell in cells if cell.cell_type == "code" and cell.source.startswith(code)]
    return [output.get("data") or output.text for output in cell.outputs]


def test_the_tour_trains_a_model_that_parses_and_translates(tour):
    printed = "".join(outputs_of(tour, "!{snakemake} results/tour/demo_en2de/depparse_l1.bleu"))
    assert float(re.search(r"BLEU ([\d.]+)", printed)[1]) > 1
    assert float(re.search(r"UAS ([\d.]+)", printed)[1]) > 70
    (translations,) = outputs_of(tour, "model = ")
    assert re.fullmatch(r"\['\w.*[.]',\s+'\w.*[.]'\]", translations["text/plain"])


# The pages that are made from code


@pytest.mark.parametrize(("part", "name"), EVERY_PART)
def test_every_base_component_and_transform_has_equations_that_can_be_drawn(part, name):
    text = explanation(PARTS[part].configured(name))
    equations = re.findall(r"```\{math\}\n(.*?)\n```", text, re.S)
    assert equations
    for tex in equations:
        assert equation(tex, block=True).startswith("<math")


def test_a_part_without_an_equation_or_its_paper_is_refused():
    for docstring, fault in (
        ("Computes nothing.", r"docstring of Plain .* needs an equation"),
        ("Adds.\n\n.. math::\n\n    a + b\n", "needs the paper"),
    ):
        with pytest.raises(ValueError, match=fault):
            explanation(type("Plain", (Component,), {"__doc__": docstring}))


def test_every_system_has_a_section_with_its_settings(project):
    pages = system_pages(project)
    for name, (path, entry) in project.system_entries.items():
        page = pages[f"systems/{path.stem}"]
        (section,) = re.findall(rf"^### {name}\n(.*?)(?=^##|\Z)", page, re.M | re.S)
        assert " ".join(project.system(name).description.split()).rstrip(".") in section
        assert ("extends" in entry) == ("- extends [`" in section)
        for part, used in parts_of(project.system(name)):
            assert f"equations.md#{part}-{used})" in page
        assert f"(systems/{path.stem}.md#{name})" in pages["systems"]
    assert "transform `interleave` with `side: target, tags: ccg_tags`" in pages["systems/aycock2021"]


def test_every_command_and_option_is_listed():
    page = commands_page()
    (commands,) = (action for action in parser()._actions if action.dest == "command")
    for name, command in commands.choices.items():
        assert f"## nmtcore {name}" in page
        for action in command._actions:
            if action.option_strings and action.dest != "help" and action.help != argparse.SUPPRESS:
                assert f"`{action.option_strings[-1]}" in page
    assert "## nmtcore new dataset" in page
    assert "%(" not in page


def test_the_page_on_python_has_every_public_name():
    page = python_reference()
    for module in MODULES:
        tree = ast.parse(inspect.getsource(importlib.import_module(module)))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert names
        for name in names:
            assert (f"### {name}\n" in page) == (not name.startswith("_"))
    assert "### load\n\n```python\nload(\n    folder: Path | str,\n    *,\n    models: " in page
    assert "\nscore(sources: Iterable[str], translations: Iterable[str]) -> list[TargetScore | None]\n" in page
    assert "\nparses -> bool\n" in page
    assert "- `mask_BS`: True for real source tokens.\n" in page


# Links


def test_every_page_is_in_the_menu_once():
    listed = [page for pages in menu(ROOT).values() for page in pages]
    assert sorted(listed) == sorted(set(addresses(ROOT).values()) - {"index"})


def test_every_link_of_the_site_has_its_target(site):
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    ids = {path: set(map(html.unescape, re.findall(r'\s(?:id|name)="([^"]*)"', text))) for path, text in texts.items()}

    def has_target(path, link):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return True
        target, anchor = (path.parent / unquote(parts.path)).resolve() if parts.path else path, unquote(parts.fragment)
        return target.exists() and (not anchor or target not in ids or anchor in ids[target])

    links = {path: map(html.unescape, re.findall(r'<a\s[^>]*?href="([^"]+)"', text)) for path, text in texts.items()}
    lost = [f"{path.name}: {link}" for path, own in links.items() for link in own if not has_target(path, link)]
    assert len(texts) > 20
    assert not lost, lost


@pytest.mark.parametrize("page", ["tour", "equations"])
def test_pages_in_the_browser(page, site, browser):
    browser.check(site / f"{page}.html", site=site)


def test_every_page_fits_on_every_screen(site, browser):
    with browser.open(site / "index.html", site=site) as page:
        for path in sorted(site.rglob("*.html")):
            page.visit(path)
            page.nothing_overflows(WIDE)
            page.nothing_overflows(NARROW)
            page.no_requests()


def test_the_browser_draws_equations(site, browser):
    with browser.open(site / "equations.html", site=site) as page:
        sizes = page.evaluate(
            "() => [...document.querySelectorAll('div.math math')].map((m) => m.getBoundingClientRect().height)"
        )
        assert len(sizes) >= len(EVERY_PART)
        assert min(sizes) > 10
        assert page.evaluate("() => document.querySelectorAll('merror, .error').length") == 0
