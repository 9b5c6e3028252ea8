"""The paths of all results and downloads: build them from names, and parse them back into names.

`Layout.path` and `Layout.parse` use the same templates, so they are inverses. The workflow's rules take their outputs,
logs and benchmarks from `Layout.pattern`, and the constraints of their wildcards from `Layout.constraints`.
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
"""Pattern for the names of data sets, systems, scales and everything else that becomes part of a path."""

COLUMN = r"(?:lemma|upos|xpos|deprel|ccg|feats(?:\.[A-Za-z0-9]+(?:\[[a-z0-9]+\])?)?)"
"""Pattern of the columns of annotations that have files of their own; those of `feats` are `feats.Number[psor]`."""

PAPER = "paper"
"""The scale whose results lie in the results folder itself; other scales have a subfolder of that name."""

STAGES = ("corpus", "annotation", "segmentation", "features")
"""Folders of a data set next to those of its systems, so no system may have one of these names."""

MODELS = "models"
"""Folder of annotators' models, within the downloads and within the files that a user downloads by hand."""

SELECTION = "selection"
"""Folder next to those of the annotators; it holds the selection of training pairs."""

RESERVED = ("tables", "figures", "logs", "benchmarks", "download")
"""Folders next to those of the data sets and scales, in the results or in their logs."""

SCORES = ("bleu", "ribes", "multi_bleu", "comet", "uas", "gold.uas")
"""Extensions of a system's summaries, `{dataset}/{system}.EXTENSION`."""

CONFIGURED_TABLES = ("systems", "constructions", "gates", "productions", "examples", "curves")
"""Tables of the configured systems that are made as those of the papers are."""

PLAIN_TABLES = ("data", "annotation", "parsers", "contrast")
"""Other tables of the configured data sets and systems."""

FILES = {
    "download": "{downloads}/{file}",
    "download_record": "{downloads}/{file}.json",
    # The corpus
    "raw_pairs": "{results}/{dataset}/corpus/raw/{split}.parquet",
    "raw_report": "{results}/{dataset}/corpus/raw/{split}.json",
    "pairs": "{results}/{dataset}/corpus/{split}.parquet",
    "pairs_report": "{results}/{dataset}/corpus/{split}.json",
    "pairs_in_train": "{results}/{dataset}/corpus/{split}.in_train.json",
    "contrasts": "{results}/{dataset}/corpus/{split}.contrasts.parquet",
    # Trees and tags
    "annotation_shard": "{results}/{dataset}/annotation/{annotator}/shards/{split}.{side}.{shard}-of-{shards}.parquet",
    "annotation": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.parquet",
    "annotation_report": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.json",
    "brackets": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.brackets.parquet",
    "comparison": "{results}/{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json",
    "labels": "{results}/{dataset}/annotation/{annotator}/{side}.labels.json",
    "column_labels": "{results}/{dataset}/annotation/{annotator}.{column}/{side}.labels.json",
    "selection": f"{{results}}/{{dataset}}/annotation/{SELECTION}/train.parquet",
    "selection_report": f"{{results}}/{{dataset}}/annotation/{SELECTION}/train.json",
    # Subwords and features
    "segmentation": "{results}/{dataset}/segmentation/{segmentation}",
    "features": "{results}/{dataset}/features/{segmentation}",
    "tokens": "{results}/{dataset}/features/{segmentation}/{split}.{side}.parquet",
    "syntax": "{results}/{dataset}/features/{segmentation}/{split}.{side}.{annotator}.parquet",
    "column": "{results}/{dataset}/features/{segmentation}/{split}.{side}.{annotator}.{column}.parquet",
    "linearised": "{results}/{dataset}/features/{segmentation}/{split}.source.{annotator}.brackets.parquet",
    # A run, and a system's summary over its seeds
    "model": "{root}/{dataset}/{system}/seed{seed}/model",
    "history": "{root}/{dataset}/{system}/seed{seed}/training.jsonl",
    "attempts": "{root}/{dataset}/{system}/seed{seed}/attempts.json",
    "checkpoints": "{root}/{dataset}/{system}/seed{seed}/checkpoints",
    "hypotheses": "{root}/{dataset}/{system}/seed{seed}/hypotheses/{split}",
    "scores": "{root}/{dataset}/{system}/seed{seed}/scores.json",
    "counts": "{root}/{dataset}/{system}/seed{seed}/counts",
    "dev_scores": "{root}/{dataset}/{system}/seed{seed}/dev.json",
    "dev_counts": "{root}/{dataset}/{system}/seed{seed}/dev_counts",
    "gates": "{root}/{dataset}/{system}/seed{seed}/gates/{split}.parquet",
    "attention": "{root}/{dataset}/{system}/seed{seed}/attention/{split}.parquet",
    "contrast_scores": "{root}/{dataset}/{system}/seed{seed}/contrast/{split}.parquet",
    "gold_parses": "{root}/{dataset}/{system}/seed{seed}/gold/{split}",
    "gold_scores": "{root}/{dataset}/{system}/seed{seed}/gold.json",
    "gold_counts": "{root}/{dataset}/{system}/seed{seed}/gold_counts",
    "metric_output": "{root}/{dataset}/{system}/seed{seed}/metrics/{metric}.output.json",
    "metric_counts": "{root}/{dataset}/{system}/seed{seed}/metrics/{metric}",
    "metric_scores": "{root}/{dataset}/{system}/seed{seed}/metrics/{metric}.json",
    "manifest": "{root}/{dataset}/{system}/seed{seed}/manifest.json",
    "summary": "{root}/{dataset}/{system}.{score}",
    "choice": "{root}/{dataset}/choices/{table}",
    "all_runs": "{results}/runs.parquet",
    "all_scores": "{results}/scores.parquet",
    # Figures, and tables that are not in `TABLES`; one with its own name lies in a folder of that name
    "figure": "{results}/figures/{folder}{table}.svg",
    "figure_pdf": "{results}/figures/{folder}{table}.pdf",
    "paper_page_table": "{results}/tables/{folder}{paper}.md",
    "report": "{results}/report.html",
    "demo_text": "{results}/demo.txt",
    # Which working folder writes into the results (lock.py)
    "results_lock": "{results}/logs/lock",
    # Records of what jobs made (written.py)
    "written": "{results}/logs/written",
}
"""Path template of each file type. `{root}`, for files of runs, is the results folder or a scale's folder in it."""

NO_OUTPUTS = {"features", "checkpoints", "attempts", "written", "results_lock"}
"""File types that are no output of a job: folders of outputs, what a job keeps for itself, records."""

TEMPORARY = {"annotation_shard", "metric_output"}
"""File types that Snakemake deletes when they are no longer needed."""

TABLES = {f"{name}_table": name for name in PLAIN_TABLES} | {
    "table": "{table}", "claim_table": "claims", "licence_table": "licences"
}  # fmt: skip
"""The names of the files of tables, which are Markdown."""

FILES |= {file_type: f"{{results}}/tables/{{folder}}{name}.md" for file_type, name in TABLES.items()}
FILES |= {
    f"{file_type.removesuffix('_table')}_json": f"{{results}}/tables/{{folder}}{TABLES[file_type]}.json"
    for file_type in ("claim_table", "licence_table")
}
FILES["table_frame"] = "{results}/tables/{folder}{table}.parquet"

TABLE_FORMATS = ("csv", "tex")
"""Formats of each table in addition to Markdown; `data_table` is also `data_csv`..."""

FILES |= {
    f"{file_type.removesuffix('_table')}_{ending}": f"{template.removesuffix('.md')}.{ending}"
    for file_type, template in FILES.items()
    if file_type in TABLES or file_type == "paper_page_table"
    for ending in TABLE_FORMATS
}

INSIDE = {
    # In a segmentation or a model
    "codes": "{side}.codes",
    "joint_codes": "codes",
    "pieces": "{side}.spm",
    "vocabulary": "{side}.vocab",
    # In translations or parses of a split
    "translations": "translations.txt",
    "greedy_translations": "greedy.txt",
    "references": "references.txt",
    "parses": "parses.parquet",
    "predicted_tags": "tags.parquet",
    "untrained_parses": "untrained.parquet",
    # In the choice of a sweep, and in counts of sentences
    "chosen": "choice.json",
    "split_counts": "{split}.parquet",
}
"""Names of the files in a folder that one job writes as a whole."""

JOBS = {
    "download": "{results}/{records}/download/{file}",
    "read_split": "{results}/{records}/{dataset}/corpus/raw.{split}",
    "filter_split": "{results}/{records}/{dataset}/corpus/{split}",
    "count_in_train": "{results}/{records}/{dataset}/corpus/{split}.in_train",
    "list_contrasts": "{results}/{records}/{dataset}/corpus/{split}.contrasts",
    "annotate_shard": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}.{shard}-of-{shards}",
    "gather_annotation": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}",
    "label_vocabularies": "{results}/{records}/{dataset}/annotation/{annotator}/{side}.labels",
    "column_labels": "{results}/{records}/{dataset}/annotation/{annotator}.{column}/{side}.labels",
    "linearise": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}.brackets",
    "select_pairs": f"{{results}}/{{records}}/{{dataset}}/annotation/{SELECTION}",
    "compare_annotations": "{results}/{records}/{dataset}/annotation/{annotator}/{split}.{side}.against.{other}",
    "learn_segmentation": "{results}/{records}/{dataset}/segmentation/{segmentation}",
    "extract_tokens": "{results}/{records}/{dataset}/features/{segmentation}/{split}.{side}",
    "extract_syntax": "{results}/{records}/{dataset}/features/{segmentation}/{split}.{side}.{annotator}",
    "extract_column": "{results}/{records}/{dataset}/features/{segmentation}/{split}.{side}.{annotator}.{column}",
    "extract_linearised": "{results}/{records}/{dataset}/features/{segmentation}/{split}.source.{annotator}.brackets",
    "train_model": "{root}/{records}/{dataset}/{system}/seed{seed}.training",
    "import_model": "{root}/{records}/{dataset}/{system}/seed{seed}.import",
    "translate_split": "{root}/{records}/{dataset}/{system}/seed{seed}.inference.{split}",
    "import_translations": "{root}/{records}/{dataset}/{system}/seed{seed}.import.{split}",
    "parse_gold": "{root}/{records}/{dataset}/{system}/seed{seed}.gold.{split}",
    "measure_gates": "{root}/{records}/{dataset}/{system}/seed{seed}.gates.{split}",
    "measure_attention": "{root}/{records}/{dataset}/{system}/seed{seed}.attention.{split}",
    "score_contrasts": "{root}/{records}/{dataset}/{system}/seed{seed}.contrast.{split}",
    "score_tests": "{root}/{records}/{dataset}/{system}/seed{seed}.scores",
    "score_dev": "{root}/{records}/{dataset}/{system}/seed{seed}.dev_scores",
    "score_choice": "{root}/{records}/{dataset}/choices/{table}",
    "score_gold": "{root}/{records}/{dataset}/{system}/seed{seed}.gold_scores",
    "run_metric": "{root}/{records}/{dataset}/{system}/seed{seed}.metrics.{metric}.output",
    "score_metric": "{root}/{records}/{dataset}/{system}/seed{seed}.metrics.{metric}.scores",
    "summarise_seeds": "{root}/{records}/{dataset}/{system}.{score}",
    "index_runs": "{results}/{records}/runs",
    "figure": "{results}/{records}/figures/{folder}{table}",
    "paper_page": "{results}/{records}/tables/{folder}{paper}",
    "report_page": "{results}/{records}/report",
    "demo": "{results}/{records}/demo",
    "verify": "{results}/{records}/verify",
    **{rule: f"{{results}}/{{records}}/tables/{{folder}}{name}" for rule, name in TABLES.items()},
}
"""Path template of each rule's log and benchmark; `{records}` is `logs` or `benchmarks`."""

TEMPLATES = {
    **FILES,
    **{f"{rule}.log": f"{stem.replace('{records}', 'logs')}.log" for rule, stem in JOBS.items()},
    **{f"{rule}.benchmark": f"{stem.replace('{records}', 'benchmarks')}.tsv" for rule, stem in JOBS.items()},
}
"""Path template of each file type: those in `FILES`, and `RULE.log` and `RULE.benchmark` for each rule."""

_WILDCARD = re.compile(r"\{(\w+)\}")


def file_name(file_type: str, **names: Any) -> str:
    """Return the file name, without its folder, of a file type in `FILES` or `INSIDE`.

    `names` must hold exactly the names that occur in the file name.
    """
    template = {**FILES, **INSIDE}[file_type].rpartition("/")[2]
    return _check_complete(file_type, _fill(file_type, template, names))


def run_file(file_type: str, **names: Any) -> str:
    """Return the path of a file type in the folder of a run. `names` must hold exactly the names that occur in it."""
    template = FILES[file_type].partition("/seed{seed}/")[2]
    return _check_complete(file_type, _fill(file_type, template, names))


def model_of(file: str) -> str | None:
    """Return the annotator's model that a download (models/MODEL/...) belongs to; None for a corpus file."""
    parts = PurePosixPath(file).parts
    return parts[1] if parts[0] == MODELS and len(parts) > 2 else None


@dataclass(frozen=True)
class ParsedPath:
    """The file type of a path and the names in it, with `scale` in place of the root."""

    file_type: str
    """A key of `TEMPLATES`."""
    names: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.names[name]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The results folder, the downloads folder and the scales; builds and parses paths in them."""

    results: str = "results"
    downloads: str = "downloads"
    scales: tuple[str, ...] | None = None
    """The scales that have a folder in the results; None if unknown: then any folder name can be a scale's."""
    papers: tuple[str, ...] = ()
    """The papers that have tables."""
    own_scores: tuple[str, ...] = ()
    """The metrics of the user's own, which are extensions of summaries like `SCORES`."""

    def __post_init__(self) -> None:
        for folder in ("results", "downloads"):
            object.__setattr__(self, folder, os.path.normpath(getattr(self, folder)).rstrip("/"))

    def path(self, file_type: str, **names: Any) -> str:
        """Return the path of a file. All its names are required, including `scale` for files of a run or system."""
        return _check_complete(file_type, self.pattern(file_type, **names))

    def pattern(self, file_type: str, **names: Any) -> str:
        """Return the path of a file with `{wildcards}` for missing names."""
        if "scale" in names:
            names["root"] = self.root(names.pop("scale"))
        return _fill(file_type, TEMPLATES[file_type], names, results=self.results, downloads=self.downloads)

    def root(self, scale: str) -> str:
        """Return the folder that holds the data sets of a scale."""
        return self.results if scale == PAPER else f"{self.results}/{scale}"

    def scale(self, root: str) -> str:
        """Return the scale of a root folder; the inverse of `root`."""
        return root.removeprefix(self.results).strip("/") or PAPER

    def below_results(self, path: str | Path) -> list[str]:
        """Return the parts of a path below the results folder; an empty list for a path elsewhere."""
        return _below(self.results, path)

    def parse(self, path: str | Path) -> ParsedPath | None:
        """Return the file type and the names of a path, the inverse of `path`; None if no template matches."""
        for top in ("results", "downloads"):
            parts = _below(getattr(self, top), path)
            for file_type, expression in self._expressions[top].items() if parts else ():
                if match := expression.fullmatch("/".join(parts)):
                    # A run outside the scales' folders has the paper's scale.
                    return ParsedPath(file_type, match.groupdict(default=PAPER))
        return None

    def names(self, path: str | Path, file_type: str) -> dict[str, str]:
        """Return the names in a path. Raises `ValueError` if the path is not of this file type."""
        parsed = self.parse(path)
        if parsed is None or parsed.file_type != file_type:
            raise ValueError(f"{path} is not a path of type {file_type} ({self.pattern(file_type)})")
        return dict(parsed.names)

    def existing(self, file_type: str, **names: Any) -> list[Path]:
        """List the existing files of a type that have these names, sorted; names that are not given may vary."""
        of_runs = "{root}" in TEMPLATES[file_type] and "scale" not in names
        scales = ({"scale": PAPER}, {"scale": "{scale}"}) if of_runs else ({},)
        patterns = [self.pattern(file_type, **names, **scale) for scale in scales]
        escaped = ["*".join(map(glob.escape, re.split(r"\{\w+\}", pattern))) for pattern in patterns]
        paths = {path for pattern in escaped for path in glob.glob(pattern)}
        return sorted(Path(path) for path in paths if (parsed := self.parse(path)) and parsed.file_type == file_type)

    @cached_property
    def constraints(self) -> dict[str, str]:
        """Regular expression of each wildcard, strict enough that no path has two readings."""
        papers, configured = "|".join(self.papers) or "(?!)", "|".join(CONFIGURED_TABLES)
        taken = "|".join((*RESERVED, *(self.scales or ())))
        return {
            "root": rf"{re.escape(self.results)}(?:/{self._scale})?",
            "dataset": rf"(?!(?:{taken})/){NAME}",
            "system": rf"(?!(?:{'|'.join(STAGES)})/){NAME}",
            "split": NAME,
            "side": "source|target",
            "annotator": rf"(?!{SELECTION}/){NAME}",
            "column": COLUMN,
            "other": NAME,
            "segmentation": r"(?:(?:words|bpe)(?:_joint)?_\d+(?:_constituency)?"
            r"|sentencepiece(?:_joint)?_\d+(?:_[A-Za-z0-9._-]+)?)",
            "metric": NAME,
            "seed": r"\d+",
            "shard": r"\d+",
            "shards": r"\d+",
            "score": "|".join(map(re.escape, (*SCORES, *self.own_scores))),
            "folder": rf"(?:{NAME}/)?",
            "paper": papers,
            "table": rf"(?!(?:{papers})\.)(?:(?:{papers})_[a-z0-9]+(?:_[a-z0-9]+)*|{configured})",
            "file": r".+(?<!\.json)",
        }

    @cached_property
    def _scale(self) -> str:
        """Regular expression for the folder of a scale."""
        if self.scales is None:
            return rf"(?!(?:{'|'.join((PAPER, *RESERVED))})/){NAME}"
        return rf"(?:{'|'.join(self.scales)})" if self.scales else "(?!)"

    @cached_property
    def _expressions(self) -> dict[str, dict[str, re.Pattern[str]]]:
        """Regular expression of each file type, for paths below the results and for paths below the downloads."""
        expressions: dict[str, dict[str, re.Pattern[str]]] = {"results": {}, "downloads": {}}
        for file_type, template in TEMPLATES.items():
            top, _, rest = template.partition("/")
            scale = f"(?:(?P<scale>{self._scale})/)?" if top == "{root}" else ""
            folder = "downloads" if top == "{downloads}" else "results"
            expressions[folder][file_type] = re.compile(scale + self._expression(rest))
        return expressions

    def _expression(self, template: str) -> str:
        """Return a regular expression for the paths of a template, with one group per name."""
        pieces = _WILDCARD.split(template)  # alternating texts and names
        names = [f"(?P<{name}>{self.constraints[name]})" for name in pieces[1::2]]
        return re.escape(pieces[0]) + "".join(
            name + re.escape(text) for name, text in zip(names, pieces[2::2], strict=True)
        )


def _fill(file_type: str, template: str, names: Mapping[str, Any], **folders: str) -> str:
    """Fill names and folders into a template; missing names stay `{wildcards}`."""
    if unknown := names.keys() - set(_WILDCARD.findall(template)):
        raise ValueError(f"a path of type {file_type} has no {', '.join(sorted(unknown))}")
    values = {**folders, **names}
    return _WILDCARD.sub(lambda match: str(values.get(match[1], match[0])), template)


def _check_complete(file_type: str, path: str) -> str:
    """Return the path. Raises `ValueError` if it still has wildcards."""
    if missing := _WILDCARD.findall(path):
        raise ValueError(f"a path of type {file_type} needs {', '.join(missing)}")
    return path


def _below(folder: str, path: str | Path) -> list[str]:
    """Return the parts of a path below a folder; an empty list for a path elsewhere."""
    if not str(path):
        return []
    parts = os.path.relpath(path, folder or "/").split("/")
    return [] if parts[0] in ("..", ".") else parts
