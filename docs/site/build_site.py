"""Build the documentation site: `python docs/site/build_site.py`. Its first page is `build/site/index.html`.

The sources of the pages are written first: the files of the repository with links between pages (`pages`), and pages
that are made from code (`systems`, `commands`). Sphinx makes HTML of them, and fails at any warning.
"""

import argparse
import base64
import shutil
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from commands import commands_page
from keys import key_tables
from pages import addresses, linked, menu, titled
from python import python_reference
from systems import datasets_page, system_pages

from nmtcore.config.project import Project

ROOT = Path(__file__).resolve().parents[2]

_MENU = "```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"
_PAPERS = "```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def execute_tour(notebook: Path, output: Path, *arguments: str) -> None:
    """Execute a notebook in a folder that is deleted afterwards, and write it with the outputs of its cells.

    `arguments` are further ones for IPython's kernel.
    """
    import nbclient
    import nbformat

    content = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(content, timeout=900, resources={"metadata": {"path": folder}})
        client.extra_arguments = ["--IPKernelApp.log_level=40", *arguments]  # errors alone
        client.execute()
    output.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, output)


def write_sources(folder: Path, tour: Path) -> None:
    """Write the sources of all pages for Sphinx; `tour` is the notebook with the outputs of its cells."""
    shutil.rmtree(folder, ignore_errors=True)
    for images in ("docs/images", "images"):  # as README and as the pages of docs/ name them
        shutil.copytree(ROOT / "docs/images", folder / images)
    pages = addresses(ROOT)
    for source, page in pages.items():
        path = ROOT / source
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            text = titled(linked(text, source, pages), page)
            reference = {"configuration": key_tables, "python": python_reference}.get(page, str)
            _write(folder / f"{page}.md", text + reference())
    _write(folder / "tour.ipynb", linked_cells(tour, pages))
    _write(folder / "index.md", with_drawings((folder / "index.md").read_text(encoding="utf-8"), drawings_of(tour)))
    project = Project.load(ROOT / "config")
    made = {"command-line": commands_page(), "datasets": datasets_page(project), **system_pages(project)}
    papers = [page for page in made if page.startswith("systems/")]
    made["systems"] += "\n" + _PAPERS.format(pages="\n".join(papers))
    for page, text in made.items():
        _write(folder / f"{page}.md", text)
    with open(folder / "index.md", "a", encoding="utf-8") as index:
        for caption, listed in menu(ROOT).items():
            index.write("\n" + _MENU.format(caption=caption, pages="\n".join(listed)) if listed else "")


def linked_cells(notebook: Path, pages: dict[str, str]) -> str:
    """Return the tour with links between pages in its texts."""
    import nbformat

    content = nbformat.read(notebook, as_version=4)
    for cell in content.cells:
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source, "docs/tour.ipynb", pages)
    return nbformat.writes(content)


def drawings_of(notebook: Path) -> list[str]:
    """Return the drawings that the cells of an executed notebook show, as SVG."""
    import nbformat

    cells = nbformat.read(notebook, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]


def with_drawings(text: str, drawings: list[str]) -> str:
    """Put the tour's tree and its attention, the first two drawings, above the second heading of the first page."""
    images = "".join(
        f'<img src="data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}" alt="{name}">'
        for drawing, name in zip(drawings, ("A tree that a model predicts", "The attention of one head"), strict=False)
    )
    shown = f'<div class="drawings">{images}</div>\n\nWhat the [tour](tour.ipynb) draws: the tree that a small model '
    return text.replace("\n## ", f"\n{shown}predicts, and the attention head that it is read from.\n\n## ", 1)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def build_site(output: Path, tour: Path) -> int:
    """Build the site; return Sphinx's exit status, which is not 0 if there was a warning."""
    from sphinx.cmd.build import build_main

    sources, work = output.with_name(f"{output.name}.sources"), output.with_name(f"{output.name}.work")
    write_sources(sources, tour)
    for folder in (output, work):
        shutil.rmtree(folder, ignore_errors=True)
    settings = ["-c", str(Path(__file__).parent), "-d", str(work), "--fail-on-warning", "--keep-going", "-q"]
    status = build_main(["-b", "html", *settings, str(sources), str(output)])
    font = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    shutil.copy(str(font), output / "_static")  # its licence, the SIL Open Font License 1.1, is in the file
    return status


def main() -> None:
    """Build the site, with a tour that is executed now or was executed before."""
    options = argparse.ArgumentParser(description="Build the documentation site.")
    options.add_argument("--output", type=Path, default=ROOT / "build/site", help="folder (default: build/site)")
    options.add_argument("--tour", type=Path, help="the executed notebook (default: execute it, about two minutes)")
    chosen = options.parse_args()
    output, tour = chosen.output.resolve(), chosen.tour
    if tour is None:
        print("Executing docs/tour.ipynb (about two minutes)...", flush=True)
        tour = output.with_name("tour.ipynb")
        execute_tour(ROOT / "docs/tour.ipynb", tour)
    status = build_site(output, tour)
    if status == 0:
        print(f"The site is in {output}: open {output / 'index.html'}.")
    sys.exit(status)


if __name__ == "__main__":
    main()
