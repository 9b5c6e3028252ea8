"""The parts of a record that compute nothing: plans of dry runs, and the messages for mistakes (cases.yaml)."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recording.calling import Workplace, at_once, cases
from recording.formats import Values, messages, plan_values

TARGET = "results/smoke/demo_en2de/transformer_base.bleu"
TEXT = "one\ntwo\nthree\n"
FILES = {
    "ref.txt": TEXT, "in.txt": TEXT, "short.txt": "one\n", "empty.txt": "\n\n", "empty/x": "",
    "config/a.en": TEXT, "config/a.de": TEXT, "text/engine.txt": "Ein Satz .\n" * 500,
}  # fmt: skip
"""Files that every working folder has."""


def record_plans(work: Workplace) -> Values:
    """The jobs of dry runs, with their inputs and outputs."""
    own_files = FILES | cases()["own_files"]

    def plan(entry: tuple[int, tuple[str, list[str]]]) -> tuple[str, Values]:
        number, (name, (targets, *settings)) = entry
        own = Workplace(work.folder / str(number), own_files)
        answer = own.snakemake("-n", *targets.split(), settings=settings)
        return name, {"code": answer.code, **plan_values(answer.output)}

    return dict(at_once(plan, enumerate(cases()["plans"].items())))


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A command that ends with a message, and the files that it reads."""

    name: str
    command: str
    settings: tuple[str, ...] = ()
    files: Mapping[str, Any] = field(default_factory=dict)


def mistakes() -> Iterator[Mistake]:
    """Yield all mistakes."""
    listed = cases()
    for target in listed["wrong_targets"]:
        yield Mistake(name=f"target {target}", command=f"snakemake -n {target}")
    for setting in listed["wrong_settings"]:
        yield Mistake(name=f"setting {setting}", command="snakemake -n", settings=(setting,))
    for path, contents in listed["wrong_files"].items():
        target = listed["target_of"].get(path.split("/")[1], TARGET)
        for content in contents:
            text = content if isinstance(content, str) else json.dumps(content)
            yield Mistake(name=f"{path}: {text}", command=f"snakemake -n {target}", files={path: content})
    for command in listed["wrong_commands"]:
        yield Mistake(name=f"nmtcore {command}", command=f"nmtcore {command}")
    yield from broken_corpora()


def broken_corpora() -> Iterator[Mistake]:
    """Yield corpora with a broken file, in place of the source or, for formats with both sides, of the only one."""
    for name, format_name, role, content in (
        ("unequal numbers of lines", "plain", "source", b"one\ntwo\n"),
        ("truncated gzip", "plain", "source", gzip.compress(TEXT.encode() * 99, mtime=0)[:-9]),
        ("not UTF-8", "plain", "source", b"one\ntw\xe9o\nthree\n"),
        ("a NUL", "plain", "source", b"one\ntw\0o\nthree\n"),
        ("UTF-16", "plain", "source", TEXT.encode("utf-16")),
        ("TMX", "tmx", "pairs", b"<tmx><body><tu></body>"),
        ("CoNLL-U", "conllu", "source", b"1\tThe\tthe\n\n"),
        ("tsv", "tsv", "pairs", b"one\ttwo\nthree\n"),
        ("CzEng", "czeng", "pairs", b"x\ty\n"),
        ("contrastive pairs", "contrastive", "pairs", b"source\tright\n"),
    ):
        split = {"conllu": "gold_mine", "contrastive": "contrast_mine"}.get(format_name, "train")
        files = {role: {"path": "broken"}} | ({"target": {"path": "a.de"}} if format_name == "plain" else {})
        plain = {"format": "plain", "files": {"source": {"path": "a.en"}, "target": {"path": "a.de"}}}
        dataset = {
            "extends": "demo_en2de",
            "corpora": {"broken": {"format": format_name, "files": files}, "plain": plain},
            "splits": {"train": "plain", split: "broken"},
            "words": "spaces",
        }
        command = f"snakemake --cores 1 results/mine/corpus/raw/{split}.parquet"
        own_files = {"config/datasets/mine.yaml": dataset, "config/broken": content}
        yield Mistake(name=f"corpus: {name}", command=command, files=own_files)


def record_mistakes(work: Workplace) -> Values:
    """The messages for mistakes, and the logs of jobs that fail."""

    def make(entry: tuple[int, Mistake]) -> tuple[str, Values]:
        number, mistake = entry
        own = Workplace(work.folder / str(number), FILES | dict(mistake.files))
        program, *arguments = mistake.command.split()
        if program == "nmtcore":
            answer = own.nmtcore(*arguments)
            return mistake.name, {"code": answer.code, "message": answer.output[:2000] + answer.errors}
        answer = own.snakemake(*arguments, settings=mistake.settings)
        logs = sorted(own.folder.glob("results/logs/mine/**/*.log"))
        said = [*messages(answer.output), *(own.plain(path.read_text()).strip() for path in logs)]
        return mistake.name, {"code": answer.code, "message": "\n".join(said)}

    return dict(at_once(make, enumerate(mistakes())))
