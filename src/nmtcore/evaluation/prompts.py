"""Sources of a test as a table for translators elsewhere, such as LLMs, and their answers as a file of translations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmtcore.config.project import Project
from nmtcore.corpus.text_lines import read_text_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import LineError, UserError, shortened
from nmtcore.files import read_json
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import PER_WORD, Annotation, conllu_sentence

TREES = {"conllu": "dependencies", "brackets": "constituency"}
"""The annotation of the source, by the form in which its trees are written."""

PROMPT = "Translate this sentence from {} to {} (codes of ISO 639). Answer with the translation alone.\n\n{{source}}"
"""The prompt of a sentence, which {tree} follows if there are trees."""


def prompts(project: Project, dataset: str, split: str, *, trees: str | None, prompt: str | None) -> Iterator[dict]:
    """Yield the `id`, the `source`, with `trees` the `tree` (None: no parse), and the `prompt` of each pair of a split.

    In the prompt, {source} and {tree} are replaced. Raises `UserError` if the split or its trees are not there.
    """
    settings, names = project.dataset(dataset), {"dataset": dataset, "split": split}
    text = prompt or PROMPT.format(settings.source, settings.target) + "\n\nIts syntax tree:\n{tree}" * bool(trees)
    for name in ["{source}", "{tree}"][: 2 if trees else 1]:
        if name not in text:
            raise UserError(f"the prompt lacks {name}: write it where the text of each sentence belongs.")
    annotations: Iterator[dict[str, Any]] = iter(())
    if trees:
        annotator = settings.syntax.get("source", {}).get(TREES[trees])
        if annotator is None:
            raise UserError(f"{dataset} has no annotator of {TREES[trees]} on the source side: leave out --trees.")
        path = _made(project, "annotation", **names, annotator=annotator, side="source")
        annotations = read_rows(path, columns=[*PER_WORD[:6], "constituency"])
    for pair in read_rows(_made(project, "pairs", **names), columns=["id", "source", "source_words"]):
        row = {"id": pair["id"], "source": pair["source"]}
        if trees:
            annotation = Annotation(**next(annotations))
            tree = None if annotation.head is None else conllu_sentence(pair["source_words"], annotation).strip()
            row["tree"] = annotation.constituency if trees == "brackets" else tree
        filled = text.replace("{tree}", row.get("tree") or "(none)").replace("{source}", pair["source"])
        yield row | {"prompt": filled}


def translations_of(project: Project, dataset: str, split: str, answers: Path) -> tuple[list[str], list[str]]:
    """Return the translations in a file of answers, as a file of an external system has them, and notes on them.

    An answer is a line with a JSON object: `id` and `translation`, perhaps the `source`. Each translation is at the
    line of its id; line breaks become spaces, and where the data set is evaluated on tokens, the text becomes tokens.
    Raises `UserError` if a line is no answer, or if not each pair of the split has one.
    """
    settings, names = project.dataset(dataset), {"dataset": dataset, "split": split}
    pairs = read_rows(_made(project, "pairs", **names), columns=["id", "source"])
    sources = {pair["id"]: pair["source"] for pair in pairs}
    texts: dict[int, str] = {}
    lines: dict[int, int] = {}
    for number, line in enumerate(read_text_lines(answers), start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or type(row.get("id")) is not int or not isinstance(row.get("translation"), str):
            form = '{"id": NUMBER, "translation": "TEXT"}'
            raise LineError(answers, number, f"expected {form}, found {shortened(line)}: correct the line.")
        key = row["id"]
        if key not in sources or row.get("source", sources[key]) != sources[key]:
            what = f"the source of id {key} is another one" if key in sources else f"no sentence has the id {key}"
            raise LineError(answers, number, f"{what} in {dataset}/{split}: are these answers for another test?")
        if key in texts:
            raise LineError(answers, number, f"line {lines[key]} has an answer for id {key}, too: delete one of them.")
        texts[key], lines[key] = row["translation"].strip(), number
    if missing := [key for key in sources if key not in texts]:
        raise UserError(
            f"{answers} has no answer for {len(missing):,} of {len(sources):,} sentences (the first has id "
            f'{missing[0]}): ask again, or let each have an empty one ("translation": "").'
        )
    notes = []
    if list(texts) != sorted(texts):
        notes.append(f"{answers}: the answers are in another order than the sentences; each is at the line of its id.")
    if broken := sum(len(text.splitlines()) > 1 for text in texts.values()):
        notes.append(f"{answers}: line breaks in {broken:,} of {len(texts):,} answers became spaces.")
    words = WordTokenizer(settings.words["target"], settings.language("target"))
    split_text = words.split if settings.evaluation.text == "tokens" else str.split
    count = read_json(_made(project, "raw_report", **names))["pairs"]
    return [" ".join(split_text(texts.get(key, ""))) for key in range(count)], notes


def _made(project: Project, file_type: str, **names: str) -> Path:
    """Return the path of a file. Raises `UserError` if it is not there yet."""
    path = Path(project.layout.path(file_type, **names))
    if not path.exists():
        raise UserError(
            f"{path} is not there yet: make it by `snakemake --cores 2 {path}`, with the same folder as -d."
        )
    return path
