"""Every path of the results and the downloads: built from names, and parsed back to them.

`Layout.path` and `Layout.parse` read the same tables, so each is the other's inverse. The workflow's rules take their
outputs, logs and benchmarks from `Layout.pattern`, and their wildcards' constraints from `Layout.constraints`.
"""

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

NAME = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
"""What data sets, systems, recipes, scales and whatever else stands in paths may be called."""

PAPER = "paper"
"""The scale whose results lie in the results folder itself; those of any other lie in a folder of its name."""

STAGES = ("corpus", "annotation", "segmentation", "features")
"""Folders of a data set beside those of its systems, so no system may have such a name."""

MODELS = "models"
"""The folder of annotators' models: in the downloads, and in what a user fetches by hand."""

SELECTION = "selection"
"""The folder beside those of annotators that says which training pairs are used."""

RESERVED = ("tables", "figures", "logs", "benchmarks", "download")
"""Folders beside those of the data sets and scales, in the results or in their logs."""

SCORES = ("bleu", "uas", "gold.uas")
"""The endings of a system's summaries, `{dataset}/{system}.ENDING`."""

FILES = {
    "download": "{downloads}/{file}",
    "download_record": "{downloads}/{file}.json",
    # The corpus
    "raw_pairs": "{results}/{dataset}/corpus/raw/{split}.parquet",
    "raw_report": "{results}/{dataset}/corpus/raw/{split}.json",
    "truecaser": "{results}/{dataset}/corpus/truecase.{side}.txt",
    "pairs": "{results}/{dataset}/corpus/{split}.parquet",
    "pairs_report": "{results}/{dataset}/corpus/{split}.json",
    # Trees and tags
    "annotation_shard": "{results}/{dataset}/annotation/{annotator}/shards/{split}.{side}.{shard}-of-{shards}.parquet",
    "annotation": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.parquet",
    "annotation_report": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.json",
    "brackets": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.brackets.parquet",
    "comparison": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json",
    "labels": "{results}/{dataset}/annotation/{annotator}/{side}.labels.json",
    "selection": f"{{results}}/{{dataset}}/annotation/{SELECTION}/train.parquet",
    "selection_report": f"{{results}}/{{dataset}}/annotation/{SELECTION}/train.json",
    # Subwords, and numbers for the models
    "segmentation": "{results}/{dataset}/segmentation/{segmentation}",
    "features": "{results}/{dataset}/features/{segmentation}",
    "tokens": "{results}/{dataset}/features/{segmentation}/{split}.{side}.parquet",
    "syntax": "{results}/{dataset}/features/{segmentation}/{split}.{side}.{annotator}.parquet",
    "linearised": "{results}/{dataset}/features/{segmentation}/{split}.source.{annotator}.brackets.parquet",
    # A run, and a system over its seeds
    "model": "{root}/{dataset}/{system}/seed{seed}/model",
    "history": "{root}/{dataset}/{system}/seed{seed}/training.jsonl",
    "checkpoints": "{root}/{dataset}/{system}/seed{seed}/checkpoints",
    "hypotheses": "{root}/{dataset}/{system}/seed{seed}/hypotheses",
    "scores": "{root}/{dataset}/{system}/seed{seed}/scores.json",
    "gold_parses": "{root}/{dataset}/{system}/seed{seed}/gold",
    "gold_scores": "{root}/{dataset}/{system}/seed{seed}/gold.json",
    "summary": "{root}/{dataset}/{system}.{score}",
    # Tables; one with a name of its own lies in a folder
    "data_table": "{results}/tables/{table}data.md",
    "data_json": "{results}/tables/{table}data.json",
    "annotation_table": "{results}/tables/{table}annotation.md",
    "annotation_json": "{results}/tables/{table}annotation.json",
    "parser_table": "{results}/tables/{table}parsers.md",
    "parser_json": "{results}/tables/{table}parsers.json",
    "system_table": "{results}/tables/{table}systems.md",
    "system_json": "{results}/tables/{table}systems.json",
    "demo_table": "{results}/tables/demo.md",
    # Notes of what broke off (unfinished.py)
    "unfinished": "{results}/logs/unfinished",
}
"""Where each kind of file lies. A run's files lie below `{root}`, which is the results folder or one scale's in it."""

INSIDE = {
    # Of a segmentation, and of a model
    "codes": "{side}.codes",
    "joint_codes": "codes",
    "vocabulary": "{side}.vocab",
    # Of translations and parses
    "translations": "{split}.txt",
    "references": "{split}.references.txt",
    "parses": "{split}.parquet",
}
"""What files are called in folders that a job makes as a whole."""

JOBS = {
    "download": "{results}/{records}/download/{file}",
    "read_split": "{results}/{records}/{dataset}/corpus/raw.{split}",
    "learn_truecaser": "{results}/{records}/{dataset}/corpus/truecase.{side}",
    "filter_split": "{results}/{records}/{dataset}/corpus/{split}",
    "annotate_shard": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}.{shard}-of-{shards}",
    "gather_annotation": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}",
    "label_vocabularies": "{results}/{records}/{dataset}/annotation/{annotator}/{side}.labels",
    "linearise": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}.brackets",
    "select_pairs": f"{{results}}/{{records}}/{{dataset}}/annotation/{SELECTION}",
    "compare_annotations": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}.against.{other}",
    "learn_segmentation": "{results}/{records}/{dataset}/segmentation/{segmentation}",
    "extract_tokens": "{results}/{records}/{dataset}/features/{segmentation}/{split}.{side}",
    "extract_syntax": "{results}/{records}/{dataset}/features/{segmentation}/{split}.{side}.{annotator}",
    "extract_linearised": "{results}/{records}/{dataset}/features/{segmentation}/{split}.source.{annotator}.brackets",
    "train_model": "{root}/{records}/{dataset}/{system}/seed{seed}.training",
    "translate_tests": "{root}/{records}/{dataset}/{system}/seed{seed}.inference",
    "parse_gold": "{root}/{records}/{dataset}/{system}/seed{seed}.gold",
    "score_tests": "{root}/{records}/{dataset}/{system}/seed{seed}.scores",
    "score_gold": "{root}/{records}/{dataset}/{system}/seed{seed}.gold_scores",
    "summarise_seeds": "{root}/{records}/{dataset}/{system}.{score}",
    "data_table": "{results}/{records}/tables/{table}data",
    "annotation_table": "{results}/{records}/tables/{table}annotation",
    "parser_table": "{results}/{records}/tables/{table}parsers",
    "system_table": "{results}/{records}/tables/{table}systems",
    "demo": "{results}/{records}/demo",
}
"""Where each rule's logs and benchmarks lie, `{records}` being the one or the other."""

TEMPLATES = {
    **FILES,
    **{f"{rule}.log": f"{stem.replace('{records}', 'logs')}.log" for rule, stem in JOBS.items()},
    **{f"{rule}.benchmark": f"{stem.replace('{records}', 'benchmarks')}.tsv" for rule, stem in JOBS.items()},
}
"""The path of each kind of file: those of `FILES`, and `RULE.log` and `RULE.benchmark` of each rule."""

_WILDCARD = re.compile(r"\{(\w+)\}")


def file_name(kind: str, **names: Any) -> str:
    """Give the name that a kind of file (of `FILES` or `INSIDE`) has in its folder, for code that knows the folder.

    All the names in it must be given, and no others.
    """
    template = {**FILES, **INSIDE}[kind].rpartition("/")[2]
    return _whole(kind, _put(kind, template, names))


def model_of(file: str) -> str | None:
    """Tell from a download's name, models/MODEL/..., which annotator's model it belongs to; None: to a corpus."""
    parts = PurePosixPath(file).parts
    return parts[1] if parts[0] == MODELS and len(parts) > 2 else None


@dataclass(frozen=True)
class Place:
    """What a path says: the kind of file, a key of `TEMPLATES`, and the names in it; `scale` stands for the root."""

    kind: str
    names: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.names[name]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The folders that everything lies in."""

    results: str = "results"
    downloads: str = "downloads"
    scales: tuple[str, ...] | None = None
    """The scales that have a folder in the results; None: a folder of any name is one's, where a scale can stand."""

    def __post_init__(self) -> None:
        for folder in ("results", "downloads"):
            object.__setattr__(self, folder, str(getattr(self, folder)).rstrip("/"))

    def path(self, kind: str, **names: Any) -> str:
        """Give the path of a kind of file. All its names must be given: of a run or system also its `scale`."""
        return _whole(kind, self.pattern(kind, **names))

    def pattern(self, kind: str, **names: Any) -> str:
        """Give the path of a kind of file, with `{wildcards}` for the names that are not given."""
        if "scale" in names:
            names["root"] = self.root(names.pop("scale"))
        return _put(kind, TEMPLATES[kind], names, results=self.results, downloads=self.downloads)

    def log(self, rule: str) -> str:
        """Give the pattern of a rule's logs."""
        return self.pattern(f"{rule}.log")

    def benchmark(self, rule: str) -> str:
        """Give the pattern of a rule's benchmarks."""
        return self.pattern(f"{rule}.benchmark")

    def root(self, scale: str) -> str:
        """Give the folder of a scale's data sets."""
        return self.results if scale == PAPER else f"{self.results}/{scale}"

    def scale(self, root: str) -> str:
        """Give the scale that a folder is the root of, the inverse of `root`."""
        return root[len(self.results) :].lstrip("/") or PAPER

    def below_results(self, path: str | Path) -> list[str]:
        """Give the parts of a path below the results folder; none for a path elsewhere."""
        return _below(self.results, path)

    def parse(self, path: str | Path) -> Place | None:
        """Tell what a path is about, the inverse of `path`; None where no kind of file lies."""
        for top in ("results", "downloads"):
            parts = _below(getattr(self, top), path)
            for kind, expression in self._expressions[top].items() if parts else ():
                if found := expression.fullmatch("/".join(parts)):
                    return Place(kind, _told(found))
        return None

    def names(self, path: str | Path, kind: str) -> dict[str, str]:
        """Give the names in the path of a file of a kind; any other path is a `ValueError`."""
        place = self.parse(path)
        if place is None or place.kind != kind:
            raise ValueError(f"{path} is no path of the kind {kind} ({self.pattern(kind)})")
        return dict(place.names)

    def existing(self, kind: str, **names: Any) -> list[Path]:
        """List the files of a kind that are there and have these names, sorted; any others are left open."""
        whole = self.pattern(kind, **names)
        found = glob.glob("*".join(map(glob.escape, re.split(r"\{\w+\}", whole))))
        return sorted(Path(path) for path in found if (place := self.parse(path)) and place.kind == kind)

    @cached_property
    def constraints(self) -> dict[str, str]:
        """What each wildcard may stand for: so strict that a path means one thing."""
        taken = "|".join((*RESERVED, *(self.scales or ())))
        return {
            "root": rf"{re.escape(self.results)}(?:/{self._scale})?",
            "dataset": rf"(?!(?:{taken})/){NAME}",
            "system": rf"(?!(?:{'|'.join(STAGES)})/){NAME}",
            "split": NAME,
            "side": "source|target",
            "annotator": rf"(?!{SELECTION}/){NAME}",
            "other": NAME,
            "segmentation": r"(?:words|bpe)(?:_joint)?_\d+(?:_constituency)?",
            "seed": r"\d+",
            "shard": r"\d+",
            "shards": r"\d+",
            "score": "|".join(map(re.escape, SCORES)),
            "table": rf"(?:{NAME}/)?",
            "file": r".+(?<!\.json)",
        }

    @cached_property
    def _scale(self) -> str:
        """An expression for the folder of a scale."""
        if self.scales is None:
            return rf"(?!(?:{'|'.join((PAPER, *RESERVED))})/){NAME}"
        return rf"(?:{'|'.join(self.scales)})" if self.scales else "(?!)"

    @cached_property
    def _expressions(self) -> dict[str, dict[str, re.Pattern[str]]]:
        """An expression for each kind of file: of paths below the results, and of those below the downloads."""
        found: dict[str, dict[str, re.Pattern[str]]] = {"results": {}, "downloads": {}}
        for kind, template in TEMPLATES.items():
            top, _, rest = template.partition("/")
            scale = f"(?:(?P<scale>{self._scale})/)?" if top == "{root}" else ""
            folder = "downloads" if top == "{downloads}" else "results"
            found[folder][kind] = re.compile(scale + self._expression(rest))
        return found

    def _expression(self, template: str) -> str:
        """Give an expression for the paths of a template, with a group for each name."""
        pieces = _WILDCARD.split(template)  # texts and names in turns
        names = [f"(?P<{name}>{self.constraints[name]})" for name in pieces[1::2]]
        return re.escape(pieces[0]) + "".join(
            name + re.escape(text) for name, text in zip(names, pieces[2::2], strict=True)
        )


def _put(kind: str, template: str, names: Mapping[str, Any], **folders: str) -> str:
    """Put names and folders into a template; the names that are not given stay `{wildcards}`."""
    if unknown := names.keys() - set(_WILDCARD.findall(template)):
        raise ValueError(f"a path of the kind {kind} has no {', '.join(sorted(unknown))}")
    values = {**folders, **names}
    return _WILDCARD.sub(lambda found: str(values.get(found[1], found[0])), template)


def _whole(kind: str, path: str) -> str:
    """Hand on a path in which no name is left open."""
    if left := _WILDCARD.findall(path):
        raise ValueError(f"a path of the kind {kind} needs {', '.join(left)}")
    return path


def _below(folder: str, path: str | Path) -> list[str]:
    """Give the parts of a path below a folder; none for a path elsewhere."""
    parts = os.path.relpath(path, folder or "/").split("/")
    return [] if parts[0] in ("..", ".") else parts


def _told(found: re.Match[str]) -> dict[str, str]:
    """Give the names that a path tells; a run that lies in no scale's folder has the paper's scale."""
    return {name: PAPER if value is None else value for name, value in found.groupdict().items()}
