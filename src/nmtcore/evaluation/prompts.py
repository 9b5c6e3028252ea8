"""Sources of a test as a table for translators elsewhere, such as LLMs, and their answers as a file of translations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.project import Project
from nmtcore.corpus.text_lines import read_text_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import LineError, UserError, shortened
from nmtcore.files import read_json
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import PER_WORD, Annotation, conllu_sentence

Trees = Literal["conllu", "brackets"]
"""How trees are written: dependencies, or constituents."""

PROMPT = (
    "Translate this sentence from {from} to {to} (codes of ISO 639). Answer with the translation alone.\n\n{source}"
)
"""The prompt of a sentence."""
OF_TREE = "\n\nIts syntax tree:\n{tree}"
"""What follows it if there are trees."""


def prompts(
    project: Project, dataset: DatasetSettings, split: str, *, trees: Trees | None, prompt: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the `id`, the `source`, with `trees` the `tree` (None: no parse), and the `prompt` of each pair of a split.

    In the prompt, {source} and {tree} are replaced. Raises `UserError` if the split or its trees are not there yet, or
    if the data set has no such trees.
    """
    text = prompt or (PROMPT + OF_TREE * bool(trees)).replace("{from}", dataset.source).replace("{to}", dataset.target)
    wanted = ["{source}", "{tree}"] if trees else ["{source}"]
    if missing := [name for name in wanted if name not in text]:
        raise UserError(f"the prompt lacks {' and '.join(missing)}: write it where the text of each sentence belongs.")
    pairs = read_rows(
        _made(project, "pairs", dataset=dataset.name, split=split), columns=["id", "source", "source_words"]
    )
    rows: Iterator[Any] = iter(())
    if trees:
        annotation = "constituency" if trees == "brackets" else "dependencies"
        annotator = dataset.syntax.get("source", {}).get(annotation)
        if annotator is None:
            raise UserError(f"{dataset.name} names no annotator of {annotation} on the source side: leave out --trees.")
        names = {"dataset": dataset.name, "annotator": annotator, "split": split, "side": "source"}
        rows = read_rows(_made(project, "annotation", **names), columns=[*PER_WORD[:6], "constituency"])
    for pair in pairs:
        row = {"id": pair["id"], "source": pair["source"]}
        if trees:
            row["tree"] = _tree(pair["source_words"], next(rows), trees)
        filled = text.replace("{tree}", row.get("tree") or "(none)").replace("{source}", pair["source"])
        yield row | {"prompt": filled}


def _tree(words: list[str], row: dict[str, Any], trees: Trees) -> str | None:
    if trees == "brackets":
        return row["constituency"]
    columns = {name: row[name] for name in PER_WORD[:6]}
    return None if row["head"] is None else conllu_sentence(words, Annotation(**columns)).strip()


def translations_of(
    project: Project, dataset: DatasetSettings, split: str, answers: Path
) -> tuple[list[str], list[str]]:
    """Return the translations in a file of answers, as a file of an external system has them, and notes on them.

    An answer is a line with a JSON object, `id` and `translation`, and perhaps the `source`. Each translation is at the
    line of its id; line breaks become spaces, and where the data set is evaluated on tokens, the text becomes tokens.
    Raises `UserError` if a line is no answer, or if not each pair of the split has one.
    """
    pairs = read_rows(_made(project, "pairs", dataset=dataset.name, split=split), columns=["id", "source"])
    sources = {pair["id"]: pair["source"] for pair in pairs}
    found: dict[int, str] = {}
    lines: dict[int, int] = {}
    for number, line in enumerate(read_text_lines(answers), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or type(row.get("id")) is not int or not isinstance(row.get("translation"), str):
            form = '{"id": NUMBER, "translation": "TEXT"}'
            raise LineError(answers, number, f"expected {form}, found {shortened(line)}: correct the line.")
        key = row["id"]
        if key in found:
            raise LineError(answers, number, f"line {lines[key]} has an answer for id {key}, too: delete one of them.")
        if key not in sources or row.get("source", sources[key]) != sources[key]:
            what = f"no sentence has the id {key}" if key not in sources else f"the source of id {key} is another one"
            raise LineError(answers, number, f"{what} in {dataset.name}/{split}: are these answers for another test?")
        found[key], lines[key] = row["translation"], number
    if missing := [key for key in sources if key not in found]:
        raise UserError(
            f"{answers} has no answer for {len(missing):,} of {len(sources):,} sentences, the first with id {missing[0]}: "
            'ask again, or let each have an empty one ("translation": "").'
        )
    notes = []
    if list(found) != sorted(found):
        notes.append(f"{answers}: the answers are in another order than the sentences; each is at the line of its id.")
    if broken := sum(len(text.splitlines()) > 1 for text in found.values()):
        notes.append(f"{answers}: line breaks in {broken:,} of {len(found):,} answers became spaces.")
    texts = {key: " ".join(text.split()) for key, text in found.items()}
    if dataset.evaluation.text == "tokens":
        words = WordTokenizer(dataset.words["target"], dataset.language("target"))
        texts = {key: " ".join(words.split(text)) for key, text in texts.items()}
    count = read_json(_made(project, "raw_report", dataset=dataset.name, split=split))["pairs"]
    return [texts.get(key, "") for key in range(count)], notes


def _made(project: Project, file_type: str, **names: str) -> Path:
    """Return the path of a file. Raises `UserError` if it is not there yet."""
    path = Path(project.layout.path(file_type, **names))
    if not path.exists():
        raise UserError(f"{path} is not there yet: snakemake --cores 2 {path} makes it (with -d if you name a folder).")
    return path
