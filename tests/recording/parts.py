"""The parts of a record: runs, plans, tables, data and models.

Each part is a function from a working folder, in which it calls Snakemake and nmtcore as a user does, to keyed values.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from demo_parts import part_of_demo
from recording.formats import Values, csv_values, file_values, folder_values, plan_values, stable

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


class Answer(NamedTuple):
    """What a command gave back, without the paths of this machine."""

    code: int
    output: str
    errors: str


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

    def make(self, *targets: str, settings: Sequence[str] = ()) -> None:
        """Make targets. Raises `RuntimeError` if Snakemake fails."""
        answer = self.snakemake("--cores", str(CORES), *targets, settings=settings)
        if answer.code:
            raise RuntimeError(f"{' '.join(targets)}:\n{answer.output[-5000:]}")

    def nmtcore(self, *arguments: str, text: str = "") -> Answer:
        """Call nmtcore with `text` as its standard input."""
        return self._call(["nmtcore", *arguments], text)

    def write(self, name: str, content: object) -> None:
        """Write a file of the folder: text, or values as YAML."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, allow_unicode=True))

    def _call(self, command: Sequence[str], text: str = "", errors: int = subprocess.PIPE) -> Answer:
        process = subprocess.run(
            [sys.executable, "-m", *command], input=text.encode(), stdout=subprocess.PIPE, stderr=errors,
            cwd=self.folder, env=os.environ | ENVIRONMENT, check=False,
        )  # fmt: skip
        return Answer(process.returncode, *(self._plain(own or b"") for own in (process.stdout, process.stderr)))

    def _plain(self, stream: bytes) -> str:
        """Replace the paths of this machine."""
        text = stream.decode("utf-8", "replace")
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


# Runs


def record_runs(_: Workplace) -> Values:
    """All settings of each data set with each system at the scale `small`, or why there is no such run."""
    sys.path.insert(0, str(ROOT / "src"))  # the code of this checkout, wherever Python has been called
    from nmtcore.config.project import Project
    from nmtcore.config.runs import run_to_json
    from nmtcore.errors import UserError

    project = Project([ROOT / "config"], {})
    values: Values = {}
    for dataset, system in product(project.dataset_files, project.system_entries):
        try:
            values[f"{dataset} {system}"] = run_to_json(project.run(dataset, system, "small", 1))
        except UserError as error:
            values[f"{dataset} {system}"] = str(error).replace(str(ROOT), "<code>")
    return values


# Plans

TEXT = "one\ntwo\nthree\n"
FILES = {"config/a.en": TEXT, "config/a.de": TEXT, "text/engine.txt": "Ein Satz .\n" * 500}
"""Files that the working folder of every plan has."""


def record_plans(work: Workplace) -> Values:
    """The jobs of dry runs, with their inputs and outputs."""
    files = FILES | cases()["own_files"]

    def plan(entry: tuple[int, tuple[str, list[str]]]) -> tuple[str, Values]:
        number, (name, (targets, *settings)) = entry
        answer = Workplace(work.folder / str(number), files).snakemake("-n", *targets.split(), settings=settings)
        return name, {"code": answer.code, **plan_values(answer.output)}

    return dict(at_once(plan, enumerate(cases()["plans"].items())))


# Tables

RUN_FILES = (
    "training.jsonl", "model/weights.safetensors", "scores.json", "gold.json",
    *("hypotheses/*/*", "gold/*/*", "gates/*", "attention/*", "contrast/*"),
)  # fmt: skip
OWN_TABLES = (
    "systems", "gates", "productions", "constructions", "examples", "tags", "contrast", "data", "annotation",
    "licences",
)  # fmt: skip
"""Tables that no paper has; made of a few of the papers' runs."""


def record_tables(work: Workplace) -> Values:
    """All tables of the papers at the scale `smoke` with one seed, and the runs behind them."""
    work.make("tables", settings=["scale=smoke", "seeds=[1]"])
    for dataset, systems in (
        ("demo_en2de", ["transformer_base", "depparse_l1", "sa_nmt_shared"]),
        ("demo_de2en", ["transformer_base", "tag_attention", "interleaved"]),
    ):
        settings = ["scale=smoke", f'datasets=["{dataset}"]', f"systems={json.dumps(systems)}"]
        left_out = {"tags"} if dataset == "demo_en2de" else {"gates"}
        tables = [f"results/tables/{dataset}/{name}.md" for name in OWN_TABLES if name not in left_out]
        work.make(*tables, settings=settings)
    runs = (f"smoke/*/*/seed*/{name}" for name in RUN_FILES)
    return folder_values(work.folder / "results", "tables/**/*.csv", *runs)


# Data

DATA_FILES = ("corpus/**/*", "annotation/*/*", "segmentation/*/*", "features/*/*")


def small_dataset(
    extends: str, splits: Mapping[str, Any] | None = None, pairs: int = 1500, **changes: object
) -> Values:
    """Return a data set that extends another, with the first pairs of each corpus."""
    values: Values = {"extends": extends, "description": "For the record", **changes}
    if splits:
        values |= {"splits": {}, "segmentation": {"size": 1000}}
    for split, corpora in (splits or {}).items():
        last = pairs if split == "train" else min(pairs, 300)
        names = [corpora] if isinstance(corpora, str) else corpora or []
        cut = [{"corpus": name, "first": 1, "last": last} for name in names]
        values["splits"][split] = cut if len(cut) > 1 else next(iter(cut), None)
    return values


def record_data(work: Workplace) -> Values:
    """Corpora, annotations, codes, vocabularies and features of the demo and of the small corpora of `../shared`."""
    demos = ["demo_en2de", "demo_de2en"]
    work.make("data", "annotate", settings=[f"datasets={json.dumps(demos)}"])
    names = []
    if SHARED.is_dir():
        for name, dataset in cases()["datasets"].items():
            names.append(f"recorded_{name}")
            work.write(f"config/datasets/recorded_{name}.yaml", small_dataset(**dataset))
        folders = [f'mirrors=["{SHARED / "data"}"]', f'models=["{SHARED / "models"}","{SHARED}"]']
        tables = [f"results/tables/{name}.md" for name in ("data", "annotation", "parsers")]
        work.make("data", "annotate", *tables, settings=[f"datasets={json.dumps(names)}", *folders])
    else:
        print("data: ../shared is missing, so only the demo's corpora are recorded.")
    results = work.folder / "results"
    values = {name: folder_values(results / name, *DATA_FILES) for name in [*demos, *names]}
    return {**values, "tables": {path.stem: csv_values(path) for path in results.glob("tables/*.csv")}}


# Models

LINES = (
    "She sees the small dog .", "He says that she sleeps .", "the", "", "   ", "The man who saw the dog sleeps .",
    "Does the teacher know that the girls read ?", "THE DOG SEES THE CAT !", "xylophone zebra quux", "a a a a a a a a",
    "The keys in the box gleam .", "No , he does not , and she does not .", "Der Hund schläft .", "日本語 の 文 。",
    "😀 🎉", "&amp; < > \" ' |", "<unk> </s> <s>", "dog@@ s@@", "1,234.5 % of 7/8", "tab\tbetween",
    "line\u2028separator", "ünïcödé straße", "e\u0301 combined", "don't can't won't", "www.example.org/a?b=c",
    "- - -", "( [ { } ] )",
    "The old woman gives the child a book in the garden because it rains .", "dog " * 20, "x" * 40,
)  # fmt: skip
"""What the models read: sentences of the demo's words, and odd ones."""
GERMAN = "Der Mann sieht den Hund ."
SYSTEMS = {
    "en2de": ("transformer_base", "depparse_l1", "pascal", "sennrich_haddow", "sisa", "sa_nmt_shared"),
    "de2en": ("tag_attention", "interleaved", "multitask"),
}
"""The systems whose models are used, by direction."""


def record_models(work: Workplace) -> Values:
    """What trained models make of the same sentences: translations, trees, tags, gates, attention, probabilities."""
    write_model_datasets(work)
    runs = [(f"recorded_{direction}", system) for direction, systems in SYSTEMS.items() for system in systems]
    folders = [f'models=["{SHARED / "models"}"]']
    work.make(*(f"results/smoke/{dataset}/{system}.bleu" for dataset, system in runs), settings=folders)
    work.write("in.txt", "\n".join(LINES) + "\n")
    work.write("out.txt", (GERMAN + "\n") * len(LINES))
    values = dict(at_once(lambda run: (run[1], model_values(work, *run)), runs))
    return {**values, "results": stable(work.nmtcore("results", "results", "--all").output)}


def write_model_datasets(work: Workplace) -> None:
    """Write two small data sets of the demo corpus; English has spaCy's trees, which raw text can have too."""
    counts = {"train": 2000, "dev": 60, "test": 60, "gold": 60, "contrast": 60}
    german, english = (
        {"extends": dataset, "corpora": part_of_demo(work.folder / dataset, direction=direction, **counts)}
        for dataset, direction in (("demo_de2en", "de-en"), ("demo_en2de", "en-de"))
    )
    if SHARED.is_dir():
        english["annotators"] = {"spacy_en": {"tool": "spacy", "model": "en_ud"}}
        english["syntax"] = {"source": {"dependencies": "spacy_en", "tags": "spacy_en"}}
    work.write("config/datasets/recorded_en2de.yaml", english)
    work.write("config/datasets/recorded_de2en.yaml", german)


def model_values(work: Workplace, dataset: str, system: str) -> Values:
    """Call the commands that use a model; some are refused for some systems, which is recorded as well."""
    run = f"results/smoke/{dataset}/{system}/seed1"
    model = f"{run}/model"
    text = "\n".join(LINES) + "\n"
    own = f"{dataset}.{system}"
    commands = {
        "translate, beam 1": ["translate", model, "--beam", "1"],
        "translate, beam 4": ["translate", model, "--beam", "4", "--n-best", "3"],
        "tags": ["translate", model, "--tags", f"{own}.tags.parquet"],
        "parse": ["parse", model],
        "parse, argmax": ["parse", model, "--argmax"],
        "parse, head 0.1": ["parse", model, "--attention", "0.1"],
        "attention": ["translate", model, "--attention", f"{own}.attention.parquet"],
        "logprob": ["logprob", model, "in.txt", "out.txt"],
        "export": ["export", model, "--to", "ctranslate2", f"{own}.exported"],
    }
    values = folder_values(work.folder / run, *RUN_FILES)
    for name, arguments in commands.items():
        models = [] if name == "export" else ["--models", str(SHARED / "models"), "--device", "cpu"]
        answer = work.nmtcore(arguments[0], *models, *arguments[1:], text=text)
        values[name] = answer._asdict()
    for name, path in (("tags", f"{own}.tags.parquet"), ("attention", f"{own}.attention.parquet")):
        if (work.folder / path).exists():
            values[name]["file"] = file_values(work.folder / path)
    values["export"]["sizes"] = {path.name: path.stat().st_size for path in work.folder.glob(f"{own}.exported/*")}
    return values
