"""Call Snakemake as a user does: in another working directory, with the user's own configuration files."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from forked import call_forked

WORDS = {
    "the": "die", "cat": "Katze", "dog": "Hündin", "sees": "sieht", "hears": "hört", "small": "kleine", "old": "alte",
    "today": "heute", "never": "nie", "and": "und", "mouse": "Maus", "finds": "findet",
}  # fmt: skip


ROOT = Path(__file__).parents[2]
CODE = ROOT / "src"
UPDATES = 80
"""Number of updates of a run at the scale `long`."""
SNAKEMAKE = (sys.executable, "-m", "snakemake")
FORKING = (sys.executable, "-P", str(ROOT / "tests/forking_snakemake.py"))
"""The same, but its jobs are forked: for calls that a test kills, or that other programs make."""
VARIABLES = {"OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """Exit status and output of a call of Snakemake, and its complete log, which a dry run prints."""

    code: int
    output: str
    log: str = ""

    @property
    def rules(self) -> set[str]:
        """The rules whose jobs are named in the log."""
        return set(re.findall(r"^(?:local)?rule (\w+):", self.log or self.output, re.MULTILINE))


@dataclass(frozen=True, kw_only=True)
class Workplace:
    """A working directory outside the checkout."""

    folder: Path
    snakefile: Path
    mirror: Path
    code: Path | None = None
    """The folder of the package that the Snakefile uses, if it is not next to it; None if it is."""

    def command(self, *arguments: str, settings: Sequence[str] = (), program: Sequence[str] = SNAKEMAKE) -> list[str]:
        """Build the command line; settings of config.yaml come last, since `--config` takes all words that follow."""
        call = [*program, "-s", str(self.snakefile), "-d", str(self.folder)]
        computing = ["threads=1", "device=cpu", f'mirrors=["{self.mirror}"]']
        return [*call, *arguments, "--config", *computing, *settings]

    def start(
        self, *arguments: str, settings: Sequence[str] = (), program: Sequence[str] = SNAKEMAKE
    ) -> subprocess.Popen:
        return subprocess.Popen(
            self.command(*arguments, settings=settings, program=program),
            cwd=self.folder.parent,  # -d sets the working directory, wherever Snakemake is called
            env=os.environ | VARIABLES,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def call(self, *arguments: str, settings: Sequence[str] = (), forked: bool = True) -> Finished:
        """Call Snakemake; it and its jobs are forked unless they need processes of their own."""
        before = self.logs()
        if forked and (self.code or self.snakefile.parent / "src").resolve() == CODE:
            command = self.command(*arguments, settings=settings, program=())
            where = {"folder": self.folder.parent, "variables": VARIABLES}
            finished = call_forked("forking_snakemake", *command, **where, merged=True)
            code, output = finished.returncode, finished.stdout.decode()
            return Finished(code=code, output=output, log=self.new_log(before))
        process = self.start(*arguments, settings=settings)
        output, _ = process.communicate(timeout=600)
        return Finished(code=process.returncode, output=output, log=self.new_log(before))

    def logs(self) -> set[Path]:
        """Return the complete logs of Snakemake's runs so far."""
        return set((self.folder / ".snakemake/log").glob("*.log"))

    def new_log(self, before: set[Path]) -> str:
        """Return what Snakemake logged since there were the logs `before`."""
        return "".join(path.read_text(encoding="utf-8") for path in sorted(self.logs() - before))

    def run(self, *targets: str, settings: Sequence[str] = (), forked: bool = True) -> Finished:
        """Make targets; fail if Snakemake fails."""
        finished = self.call("--cores", "1", *targets, settings=settings, forked=forked)
        assert finished.code == 0, finished.output
        return finished

    def plan(self, *targets: str, settings: Sequence[str] = ()) -> Finished:
        """Plan targets in a dry run; fail if Snakemake fails."""
        finished = self.call("-n", *targets, settings=settings)
        assert finished.code == 0, finished.output
        return finished

    def write(self, name: str, values: dict) -> Path:
        """Write a file of the user's own configuration, which complements the repository's."""
        path = self.folder / "config" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
        return path

    def train_briefly(self) -> None:
        """Give the user's own scale `smoke` few updates."""
        self.write("scales/smoke", brief_smoke())

    def edit(self, name: str, **changes: object) -> None:
        path = self.folder / "config" / f"{name}.yaml"
        self.write(name, yaml.safe_load(path.read_text(encoding="utf-8")) | changes)

    def partial_files(self) -> list[Path]:
        """List the temporary files that only an interrupted atomic write leaves behind."""
        return [path for path in self.folder.rglob("*.partial") if ".snakemake" not in path.parts]


def make_workplace(folder: Path, snakefile: Path, mirror: Path | None = None, code: Path | None = None) -> Workplace:
    """Make a working directory and, unless given, a mirror next to it."""
    workplace = Workplace(folder=folder / "work", snakefile=snakefile, mirror=mirror or folder / "mirror", code=code)
    for path in (workplace.folder, workplace.mirror):
        path.mkdir(exist_ok=True)
    return workplace


def smoke() -> dict:
    """Return the settings of the scale `smoke`."""
    return yaml.safe_load((ROOT / "config/scales/smoke.yaml").read_text(encoding="utf-8"))


def brief_smoke() -> dict:
    """Return the settings of the scale `smoke` with few updates, for tests to which quality is nothing."""
    scale = smoke()
    for phase, updates in (("training", 16), ("fine_tuning", 4)):
        scale[phase] |= {"max_updates": updates, "checkpoint_every": updates // 4}
        scale[phase]["validation"]["every"] = updates // 2
    return scale


BRIEF = {
    "description": "Four updates of a tiny model",
    "per_base": {"transformer": {"model": {"width": 16}}},
    "training": {
        "max_updates": 4,
        "checkpoint_every": 2,
        "validation": {"every": 2, "metric": "perplexity"},
        "schedule": {"warmup": 1},
    },
    "decoding": {"max_length": 8},
}
"""A scale for tests to which quality is nothing."""


def write_little(workplace: Workplace) -> None:
    """Write a small parallel corpus, and the data set `little`."""
    words = list(WORDS)
    for split, count, shift in (("train", 150, 0), ("dev", 12, 1000), ("test", 10, 2000)):
        lines = [[words[(i * i + 7 * i * j + 3 * j) % len(words)] for j in range(3 + i % 6)] for i in range(count)]
        lines = [[str(shift + i), *line] for i, line in enumerate(lines)]
        for side, form in (("en", str), ("de", lambda word: WORDS.get(word, word))):
            text = "".join(" ".join(map(form, line)) + "\n" for line in lines)
            (workplace.mirror / f"{split}.{side}").write_text(text, encoding="utf-8")
    workplace.write("datasets/little", little())


def write_scale(workplace: Workplace, updates: int = UPDATES) -> None:
    """Write the scale `long`: smoke with dropout, whose random state a resumed run must restore."""
    scale = smoke()
    validation = {"every": updates // 2, "stop_after": None}
    scale["per_base"]["transformer"]["model"] |= {"dropout": 0.1}
    scale["training"] |= {"max_updates": updates, "validation": validation, "checkpoint_every": 10}
    workplace.write("scales/long", scale)


def little(**changes: object) -> dict:
    """Return the data set `little` with some keys changed."""

    def files(split: str) -> dict:
        names = {"source": f"{split}.en", "target": f"{split}.de"}
        return {role: {"name": f"little/{name}", "mirrors": [{"path": name}]} for role, name in names.items()}

    return {
        "description": "Some small sentences",
        "licence": "none",
        "citation": "none",
        "source": "en",
        "target": "de",
        "corpora": {split: {"format": "plain", "files": files(split)} for split in ("train", "dev", "test")},
        "splits": {"train": "train", "dev": "dev", "test": "test"},
        "words": "spaces",
        "filters": ["empty", "duplicates"],
        "segmentation": {"kind": "words", "joint": True, "size": 200},
        "recipe": "small",
        "evaluation": {"text": "tokens", "tokenize": "13a", "roots": "one"},
    } | changes


def conllu(sentences: Sequence[str], head: Callable[[int, int], int]) -> str:
    """Write trees in which word i (from 1) of a sentence with n words has the head `head(i, n)`."""
    blocks = [
        "".join(f"{i}\t{w}\t_\tX\t_\t_\t{head(i, len(words))}\tdep\t_\t_\n" for i, w in enumerate(words, 1))
        for words in map(str.split, sentences)
    ]
    return "\n".join(blocks) + "\n"


def write_gilded(workplace: Workplace) -> None:
    """Write the data set `gilded`: the parser's heads are to the left, the treebank's heads to the right."""

    def file(name: str) -> dict:
        return {"name": f"gilded/{name}", "mirrors": [{"path": name}]}

    write_little(workplace)
    corpora, splits = {}, {split: split for split in ("train", "dev", "test")}
    for split in splits:
        text = (workplace.mirror / f"{split}.en").read_text(encoding="utf-8").splitlines()
        (workplace.mirror / f"{split}.conllu").write_text(conllu(text, lambda i, n: i - 1), encoding="utf-8")
        corpora[split] = {"format": "conllu", "options": {"target_format": "plain"}}
        corpora[split]["files"] = {"en": file(f"{split}.conllu"), "de": file(f"{split}.de")}
    for split, sentences in (("gold_hand", text[:4]), ("treebank_hand", text)):
        (workplace.mirror / split).write_text(conllu(sentences, lambda i, n: (i + 1) % (n + 1)), encoding="utf-8")
        corpora[split], splits[split] = {"format": "conllu", "files": {"en": file(split)}}, split
    own = {"words": {"source": "given", "target": "spaces"}}
    own |= {"annotators": {"existing": {"tool": "existing"}}, "syntax": {"source": {"dependencies": "existing"}}}
    workplace.write("datasets/gilded", little(corpora=corpora, splits=splits, **own))


def copy_workflow(root: Path, target: Path) -> Path:
    """Copy the repository's workflow and link its package; return the path of the copied Snakefile."""
    for name in ("workflow", "profiles", "config", "envs"):
        shutil.copytree(root / name, target / name)
    shutil.copy(root / "Snakefile", target)
    (target / "src").symlink_to(root / "src")
    return target / "Snakefile"


def copy_clone(root: Path, target: Path) -> Path:
    """Copy what a clone of the repository needs to run; return the path of the copied Snakefile."""
    for name in ("workflow", "profiles", "config", "envs", "src", "data"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(root / name, target / name, symlinks=True, ignore=ignored)
    return Path(shutil.copy(root / "Snakefile", target))


def wait_for_trainer(process: subprocess.Popen, folder: Path, update: int) -> int:
    """Wait for a checkpoint after `update` or later; return the process id of the trainer."""
    while process.poll() is None:
        saved = [int(path.stem.partition("-")[0]) for path in folder.glob("checkpoints/*/0*.safetensors")]
        if saved and max(saved) >= update:
            (lock,) = folder.glob("checkpoints/*/lock")
            return int(lock.read_text().split()[1])
        time.sleep(0.02)
    raise AssertionError(f"training ended too early:\n{process.communicate()[0]}")
