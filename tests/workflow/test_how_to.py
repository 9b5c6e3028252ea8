"""The how-tos: every file is written and every command called as printed, and the printed output appears."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from demo_parts import part_of_demo
from forked import forked_programs
from workflow.calling import brief_smoke, copy_workflow

pytestmark = pytest.mark.needs("Snakemake")

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.DOTALL)
FILE = re.compile(r"`(mine/[\w/.]+\.(?:py|yaml))`")
FAILS = "<!-- fails -->"


@pytest.fixture
def checkout(root, tmp_path) -> Path:
    """A copy of the checkout in which nobody has worked yet, with a smaller demo and a briefer scale `smoke`."""
    copy_workflow(root, tmp_path)
    path = tmp_path / "config/datasets/demo_en2de.yaml"
    demo = yaml.safe_load(path.read_text(encoding="utf-8"))
    demo["corpora"]["train"] |= part_of_demo(tmp_path / "demo", train=2000)["train"]
    path.write_text(yaml.safe_dump(demo), encoding="utf-8")
    (tmp_path / "config/scales/smoke.yaml").write_text(yaml.safe_dump(brief_smoke()), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Iterator[Path]:
    """A folder with a `snakemake` and a `pytest` that are forked: the pages call them often."""
    folder = tmp_path_factory.mktemp("programs")
    with forked_programs(folder, {"snakemake": "forking_snakemake", "pytest": "pytest"}):
        yield folder


def follow(page: str, root: Path, checkout: Path, programs: Path) -> None:
    """Do what a page says: write its files, call its commands, and compare what they print."""
    text = (root / "docs" / page).read_text(encoding="utf-8")
    printed, before, blocks = "", 0, 0
    for match in BLOCK.finditer(text):
        language, block, said = match[1], match[2], text[before : match.start()]
        before, blocks = match.end(), blocks + 1
        if language == "bash":
            printed = call(block, checkout, programs, fails=said.rstrip().endswith(FAILS))
        elif language == "text":
            compare(block, printed)
        elif language in ("python", "yaml"):
            path = checkout / FILE.findall(said)[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")
    assert blocks, page


def call(commands: str, checkout: Path, programs: Path, *, fails: bool) -> str:
    """Call commands as a shell does that stops at the first mistake."""
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    finished = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", commands],
        cwd=checkout,
        env=os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (finished.returncode != 0) == fails, f"{commands}\n{finished.stdout}"
    return finished.stdout


def compare(expected: str, printed: str) -> None:
    """Find each expected line in the output; numbers may differ, and `...` stands for anything."""
    lines = [masked(line) for line in printed.splitlines()]
    for line in expected.splitlines():
        pattern = re.escape(masked(line)).replace(re.escape("..."), ".*")
        assert any(re.search(pattern, own) for own in lines), f"{line}\nis not in\n{printed}"


def masked(line: str) -> str:
    """Replace numbers and widths of columns, which depend on the machine."""
    return " ".join(re.sub(r"(?<![\w.])[-+<]?(?:\d[\d,]*)?\.?\d+(?![\w])", "#", line).split())


def test_component_metric_and_table(root, checkout, programs):
    for page in ("component", "metric", "command-metric", "table"):
        follow(f"how-to/{page}.md", root, checkout, programs)


def test_training(root, checkout, programs):
    follow("how-to/training.md", root, checkout, programs)


def test_sweep(root, checkout, programs):
    follow("how-to/sweep.md", root, checkout, programs)


def test_filter(root, checkout, programs):
    follow("how-to/filter.md", root, checkout, programs)


def test_factors(root, checkout, programs):
    follow("how-to/factors.md", root, checkout, programs)


def test_annotator(root, checkout, programs):
    follow("how-to/annotator.md", root, checkout, programs)


def test_numbers_may_differ_and_words_may_not():
    compare("| a | 0.87 | ... | b |", "| a |   1.2 | xyz | b |")
    with pytest.raises(AssertionError):
        compare("| a | 0.87 |", "| b | 0.87 |")


def test_own_paper(root, checkout, programs):
    follow("own-paper.md", root, checkout, programs)
