"""The parts of a record that compute something: runs, tables, data and models.

Each part is a function from a working folder to keyed values.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from demo_parts import part_of_demo

from recording.calling import ROOT, SHARED, Workplace, at_once, cases
from recording.formats import Values, csv_values, file_values, folder_values, stable

# Runs


def record_runs(_: Workplace) -> Values:
    """All settings of each data set with each system at the scale `small`, or why there is no such run."""
    sys.path.insert(0, str(ROOT / "src"))  # the code of this checkout, wherever Python has been called
    from nmtcore.config.project import Project
    from nmtcore.config.runs import run_to_json
    from nmtcore.errors import UserError

    project = Project([ROOT / "config"], {})
    values: dict[str, dict[str, Values]] = {"planned": {}, "refused": {}}
    for dataset, system in product(sorted(project.dataset_files), sorted(project.system_entries)):
        try:
            run = run_to_json(project.run(dataset, system, "small", 1))
            values["planned"].setdefault(dataset, {})[system] = json.loads(json.dumps(run))
        except UserError as error:
            sentence = str(error).replace(str(ROOT), "<code>")
            values["refused"].setdefault(dataset, {})[system] = sentence
    return values


# Tables

RUN_FILES = (
    "training.jsonl", "model/weights.safetensors", "scores.json", "gold.json",
    *("hypotheses/*/*", "gold/*/*", "gates/*", "attention/*", "contrast/*", "heads/*"),
)  # fmt: skip
OWN_TABLES = (
    "systems", "heads", "gates", "productions", "constructions", "examples", "tags", "contrast", "data", "annotation",
    "licences",
)  # fmt: skip
"""Tables that no paper has; made of a few of the papers' runs."""


def record_tables(work: Workplace) -> Values:
    """All tables and figures of the papers at the scale `smoke` with one seed, and the runs behind them."""
    work.make("tables", settings=["scale=smoke", "seeds=[1]"])
    for dataset, systems in (
        ("demo_en2de", ["transformer_base", "depparse_l1", "sa_nmt_shared"]),
        ("demo_de2en", ["transformer_base", "tag_attention", "interleaved"]),
    ):
        settings = ["scale=smoke", f'datasets=["{dataset}"]', f"systems={json.dumps(systems)}"]
        left_out = {"tags"} if dataset == "demo_en2de" else {"gates"}
        tables = [f"results/tables/{dataset}/{name}.md" for name in OWN_TABLES if name not in left_out]
        figures = [f"results/figures/{dataset}/{name}.svg" for name in ("constructions", "curves")]
        work.make(*tables, *figures, settings=settings)
    runs = (f"smoke/*/*/seed*/{name}" for name in RUN_FILES)
    values = folder_values(work.folder / "results", "tables/**/*.csv", "figures/**/*", *runs)
    return {name: own for name, own in values.items() if not (name.endswith(".svg") and "time" in own["texts"])}


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
    return {**values, "score": score_values(work, runs[:3])}


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
    texts = ["in.txt", "out.txt"]
    own = f"{dataset}.{system}"
    commands: dict[str, tuple[list[str], Callable[[str], Any]]] = {
        "translate, beam 1": (["translate", model, "--beam", "1"], str),
        "translate, beam 4": (["translate", model, "--beam", "4", "--n-best", "3"], numbers_in_text),
        "tags": (["translate", model, "--tags", f"{own}.tags.parquet"], str),
        "parse": (["parse", model], str),
        "parse, argmax": (["parse", model, "--argmax"], str),
        "parse, head 0.1": (["parse", model, "--attention", "0.1"], str),
        "attention": (["translate", model, "--attention", f"{own}.attention.parquet"], str),
        "logprob": (["logprob", model, *texts], numbers_in_text),
        "export": (["export", model, "--to", "ctranslate2", f"{own}.exported"], str),
    }
    values = folder_values(work.folder / run, *RUN_FILES)
    for name, (arguments, adapter) in commands.items():
        models = [] if name == "export" else ["--models", str(SHARED / "models"), "--device", "cpu"]
        answer = work.nmtcore(arguments[0], *models, *arguments[1:], text=text)
        values[name] = {"code": answer.code, "messages": answer.errors}
        if answer.code == 0:
            values[name]["output"] = adapter(answer.output)
    for name, path in (("tags", f"{own}.tags.parquet"), ("attention", f"{own}.attention.parquet")):
        if (work.folder / path).exists():
            values[name]["file"] = file_values(work.folder / path)
    exported = work.folder / f"{own}.exported"
    if exported.exists():
        values["export"]["sizes"] = {path.name: path.stat().st_size for path in exported.glob("*.bin")}
        values["export"]["files"] = {path.name: file_values(path) for path in exported.glob("*vocabulary.json")}
    return values


def numbers_in_text(output: str) -> Values:
    """Divide a text into its numbers with a decimal point, and the text around them."""
    numbers = re.findall(r"\d+\.\d+", output)
    text = re.sub(r"\d+\.\d+", "#", output)
    return {"text": text, "numbers": {str(index): float(number) for index, number in enumerate(numbers)}}


def score_values(work: Workplace, runs: list[tuple[str, str]]) -> Values:
    """Compare the translations of some runs in the terminal, and list all scores."""
    files = [f"results/smoke/{dataset}/{system}/seed1/hypotheses/test/translations.txt" for dataset, system in runs]
    references = files[0].replace("translations.txt", "references.txt")
    values: Values = {}
    for name, arguments in {
        "score": ["score", references, *files, "--ribes", "--multi-bleu", "--all"],
        "score, tokens": ["score", references, *files, "--tokenize", "none", "--tokens", "--lowercase"],
        "results": ["results", "results", "--all"],
    }.items():
        values[name] = stable(work.nmtcore(*arguments).output)
    return values
