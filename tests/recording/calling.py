"""Call Snakemake and nmtcore as a user does, in a working folder of the record's own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
"""The checkout whose code is recorded."""
SHARED = ROOT.parent / "shared"
"""The folder of real corpora and parsers, if there is one."""
CORES = 2
ENVIRONMENT = {
    "PYTHONPATH": str(ROOT / "src"),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_FP16",  # as in tests/conftest.py
    "NO_COLOR": "1",
    "COLUMNS": "100",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command gave back, without the paths of this machine."""

    code: int
    output: str
    errors: str = ""


@dataclass(frozen=True)
class Workplace:
    """A working folder."""

    folder: Path
    files: Mapping[str, object] = field(default_factory=dict)
    """Files to write there, by name."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            self.write(name, content)

    def snakemake(self, *arguments: str, settings: Sequence[str] = ()) -> Answer:
        """Call Snakemake, by default on the CPU with one thread per job; its errors are part of the output."""
        command = ["snakemake", "-s", str(ROOT / "Snakefile"), "-d", str(self.folder), *arguments]
        return self._call([*command, "--config", "device=cpu", "threads=1", *settings], errors=subprocess.STDOUT)

    def make(self, *targets: str, settings: Sequence[str] = (), cores: int = CORES) -> None:
        """Make targets. Raises `RuntimeError` if Snakemake fails."""
        answer = self.snakemake("--cores", str(cores), *targets, settings=settings)
        if answer.code:
            raise RuntimeError(f"{' '.join(targets)}:\n{answer.output[-5000:]}")

    def nmtcore(self, *arguments: str, text: str | bytes = "") -> Answer:
        """Call nmtcore with `text` as its standard input."""
        return self._call(["nmtcore", *arguments], text=text if isinstance(text, bytes) else text.encode())

    def write(self, name: str, content: object) -> Path:
        """Write a file of the folder: bytes, text, or values as YAML."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str | bytes):
            content = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def _call(self, command: Sequence[str], text: bytes = b"", errors: int = subprocess.PIPE) -> Answer:
        environment = os.environ | ENVIRONMENT
        process = subprocess.run(
            [sys.executable, "-m", *command], input=text, stdout=subprocess.PIPE, stderr=errors, cwd=self.folder,
            env=environment, check=False,
        )  # fmt: skip
        output, errors_text = (self.plain((stream or b"").decode("utf-8", "replace")) for stream in
                               (process.stdout, process.stderr))  # fmt: skip
        return Answer(code=process.returncode, output=output, errors=errors_text)

    def plain(self, text: str) -> str:
        """Replace the paths of this machine."""
        for name, path in (("<work>", self.folder), ("<code>", ROOT), ("<shared>", SHARED), ("<home>", Path.home())):
            text = text.replace(str(path), name)
        return re.sub(r"/tmp/[\w./-]+", "<tmp>", text)


def cases() -> dict[str, Any]:
    """Read the dry runs, mistakes and data sets that are recorded."""
    return yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))


def at_once(function: Callable[..., Any], entries: Iterable[Any]) -> list[Any]:
    """Call a function with each entry, as many at once as there are cores."""
    with ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(function, entries))
