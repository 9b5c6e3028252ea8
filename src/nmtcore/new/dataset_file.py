"""The commented file of a data set of the user's own, with choices that fit its text."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import GOLD, REQUIRED_SPLITS
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.typed import changed
from nmtcore.corpus.text_lines import Input
from nmtcore.corpus.writing_systems import main_script
from nmtcore.new.survey import DatasetSurvey, percentile
from nmtcore.new.templates import filled
from nmtcore.planning.known_parsers import KnownParser

WITH_TREES = ("conllu", "czeng")
"""Formats that have words and trees."""
_SIZES = ((10_000, 2_000), (100_000, 6_000), (1_000_000, 16_000), (None, 32_000))
"""Numbers of merges for up to so many training pairs."""


class OwnCorpus(NamedTuple):
    """A corpus of the user's own."""

    split: str
    """The split that it is of, or is a part of."""
    format: str
    options: Mapping[str, Any]
    """Those of the format."""
    files: Mapping[str, Sequence[Input]]
    """By role of the format."""


@dataclass(frozen=True, kw_only=True)
class DatasetDraft:
    """What is known about a data set of the user's own."""

    corpora: Mapping[str, OwnCorpus]
    """By name; that of the first one of a split is the split's."""
    splits: Mapping[str, Sequence[str]]
    """The corpora of each split; a treebank may be a test and a `gold_` split."""
    survey: DatasetSurvey
    """The text of the splits, with the words that are chosen for it."""
    parsers: Mapping[str, Sequence[KnownParser]]
    """By side."""


def dataset_text(draft: DatasetDraft, *, config: Path) -> str:
    """Write the file of a data set, which belongs in the folder `datasets` of `config`."""
    dataset, surveys = draft.survey.dataset, draft.survey.splits
    is_trained = "train" in draft.splits
    description = f"{dataset.name}: trees of {' and '.join(dict.fromkeys((dataset.source, dataset.target)))}"
    if is_trained:
        pairs = f"{surveys['train'].pairs:,} training pairs"
        description = f"{dataset.name}: {dataset.source} to {dataset.target}, {pairs}"
    tests = [split for split in draft.splits if split not in REQUIRED_SPLITS and not split.startswith(GOLD)]
    split, worst = max(surveys.items(), key=lambda item: item[1].bad.total())  # so many broken lines are allowed
    first_bad = json.dumps("".join(worst.first_bad[:1]), ensure_ascii=False)[1:-1]
    chosen = {parser.name: parser for side in SIDES for parser in draft.parsers[side]}
    return filled(
        "dataset.yaml.jinja",
        name=dataset.name,
        description=description,
        source=_scalar(dataset.source),
        target=_scalar(dataset.target) if is_trained or dataset.target != dataset.source else None,
        corpora=[_corpus_values(draft, name, config) for name in draft.corpora],
        splits=_flow({split: _list(names) for split, names in draft.splits.items()}),
        main_test=tests[0] if tests and "test" not in tests else None,
        bad={"split": split, "total": worst.bad.total(), "first": first_bad},
        training=_training_values(draft, tests) if is_trained else None,
        with_trees=is_trained and draft.corpora["train"].format in WITH_TREES,
        has_gold=any(split.startswith(GOLD) for split in draft.splits),
        languages=" or ".join(dict.fromkeys(draft.survey.languages.values())),
        annotators={name: (_flow(parser.entry), parser.place) for name, parser in chosen.items()},
        syntax={
            side: _flow({gift: parser.name for parser in own for gift in parser.gives})
            for side, own in draft.parsers.items()
            if own
        },
    )


def _training_values(draft: DatasetDraft, tests: Sequence[str]) -> dict[str, Any]:
    """Choose what only a data set to train on has."""
    dataset, survey = draft.survey.dataset, draft.survey.splits["train"]
    words = {side: _words(dataset.words[side]) for side in SIDES}
    lengths = [
        own.characters if dataset.words[side].kind == "characters" else own.words for side, own in survey.sides.items()
    ]
    first, second = map(main_script, survey.texts.values())
    return {
        "words": words["source"] if words["source"] == words["target"] else _flow(words),
        "most": 250 if max(percentile(own, 0.99) for own in lengths) > 80 else 100,
        "held_out": "held_out" if len(tests) == 1 else _flow({"name": "held_out", "splits": _list(["dev", *tests])}),
        "scripts": "both sides are in one script" if first == second else "the sides are in different scripts",
        "joint": str(first == second).lower(),
        "size": next(size for most, size in _SIZES if most is None or survey.pairs <= most),
        "text": dataset.evaluation.text,
        "tokenize": dataset.evaluation.tokenize,
    }


def _corpus_values(draft: DatasetDraft, name: str, config: Path) -> dict[str, Any]:
    """Return the values of the entry of a corpus."""
    corpus = draft.corpora[name]
    survey, is_whole = draft.survey.splits[corpus.split], len(draft.splits[corpus.split]) == 1
    pairs = f"{survey.pairs + survey.bad.total():,} pairs"
    return {
        "name": name,
        "pairs": pairs if is_whole else f"a part of {corpus.split}, which has {pairs}",
        "format": corpus.format,
        "options": corpus.options and json.dumps(corpus.options, ensure_ascii=False),
        "files": {
            role: _list([_file(file.path, file.member, config) for file in files])
            for role, files in corpus.files.items()
        },
    }


def _list(entries: Sequence[str]) -> str:
    return entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]"


def _flow(entries: Mapping[str, Any]) -> str:
    """Write entries in braces, as YAML has them within a line."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in entries.items())}}}"


def _words(words: WordsSettings) -> str:
    entries = {"kind": words.kind, **changed(words)}
    return words.kind if len(entries) == 1 else _flow(entries)


def _file(path: Path, member: str | None, config: Path) -> str:
    relative = os.path.relpath(path, config)
    text = _scalar(str(path) if relative.startswith("../../..") else relative)
    return text if member is None else _flow({"path": text, "member": _scalar(member)})


def _scalar(text: str) -> str:
    """Write a string as a YAML scalar inside braces or brackets, in quotes unless it is safe without."""
    import yaml

    is_plain = all(character.isalnum() or character in "./_-" for character in text)
    is_plain = is_plain and text[:1] not in "-" and yaml.safe_load(text) == text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
