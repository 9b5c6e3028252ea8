"""The commented file of a data set of the user's own, with choices that fit its text."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import SIDES, FileSettings, WordsSettings
from nmtcore.config.datasets import GOLD, REQUIRED_SPLITS
from nmtcore.config.typed import changed
from nmtcore.corpus.writing_systems import main_script
from nmtcore.new.known_parsers import KnownParser
from nmtcore.new.survey import DatasetSurvey, percentile
from nmtcore.new.templates import filled

WITH_TREES = ("conllu", "czeng")
"""Formats that have words and trees."""
_SIZES = ((10_000, 2_000), (100_000, 6_000), (1_000_000, 16_000), (None, 32_000))
"""Numbers of merges for up to so many training pairs."""


def dataset_text(survey: DatasetSurvey, parsers: Mapping[str, Sequence[KnownParser]], *, config: Path) -> str:
    """Write the file of a data set, which belongs in the folder `datasets` of `config`; `parsers` are by side."""
    dataset, surveys = survey.dataset, survey.splits
    is_trained = "train" in surveys
    description = f"{dataset.name}: trees of {' and '.join(dict.fromkeys(survey.languages.values()))}"
    if is_trained:
        pairs = f"{surveys['train'].pairs:,} training pairs"
        description = f"{dataset.name}: {dataset.source} to {dataset.target}, {pairs}"
    tests = [split for split in surveys if split not in REQUIRED_SPLITS and not split.startswith(GOLD)]
    split, worst = max(surveys.items(), key=lambda item: item[1].bad.total())  # so many broken lines are allowed
    first_bad = json.dumps("".join(worst.first_bad[:1]), ensure_ascii=False)[1:-1]
    chosen = {parser.name: parser for side in SIDES for parser in parsers[side]}
    return filled(
        "dataset.yaml.jinja",
        name=dataset.name,
        description=description,
        source=_scalar(dataset.source),
        target=_scalar(dataset.target) if is_trained or dataset.target != dataset.source else None,
        corpora=_corpora(survey, config),
        splits=_flow({split: _list([part.corpus for part in parts]) for split, parts in dataset.splits.items()}),
        main_test=tests[0] if tests and "test" not in tests else None,
        bad={"split": split, "total": worst.bad.total(), "first": first_bad},
        training=_training_values(survey, tests) if is_trained else None,
        with_trees=is_trained and dataset.corpora["train"].format in WITH_TREES,
        has_gold=any(split.startswith(GOLD) for split in surveys),
        languages=" or ".join(dict.fromkeys(survey.languages.values())),
        annotators={name: (_flow(parser.entry), parser.place) for name, parser in chosen.items()},
        syntax={
            side: _flow({gift: parser.name for parser in of_side for gift in parser.gives})
            for side, of_side in parsers.items()
            if of_side
        },
    )


def _training_values(surveys: DatasetSurvey, tests: Sequence[str]) -> dict[str, Any]:
    """Choose what only a data set to train on has."""
    dataset, survey = surveys.dataset, surveys.splits["train"]
    words = {side: _words(dataset.words[side]) for side in SIDES}
    lengths = [
        side_survey.characters if dataset.words[side].kind == "characters" else side_survey.words
        for side, side_survey in survey.sides.items()
    ]
    first, second = map(main_script, survey.texts.values())
    return {
        "words": words["source"] if words["source"] == words["target"] else _flow(words),
        "most": 250 if max(percentile(lengths_of_side, 0.99) for lengths_of_side in lengths) > 80 else 100,
        "held_out": "held_out" if len(tests) == 1 else _flow({"name": "held_out", "splits": _list(["dev", *tests])}),
        "scripts": "both sides are in one script" if first == second else "the sides are in different scripts",
        "joint": str(first == second).lower(),
        "size": next(size for most, size in _SIZES if most is None or survey.pairs <= most),
        "text": dataset.evaluation.text,
        "tokenize": dataset.evaluation.tokenize,
    }


def _corpora(survey: DatasetSurvey, config: Path) -> Iterator[dict[str, Any]]:
    """Yield the values of the entry of each corpus."""
    names = {
        part.corpus: (split, len(parts)) for split, parts in reversed(survey.dataset.splits.items()) for part in parts
    }
    for name, corpus in survey.dataset.corpora.items():
        split, parts = names[name]
        pairs = f"{survey.splits[split].pairs + survey.splits[split].bad.total():,} pairs"
        yield {
            "name": name,
            "pairs": pairs if parts == 1 else f"a part of {split}, which has {pairs}",
            "format": corpus.format,
            "options": corpus.options and json.dumps(corpus.options, ensure_ascii=False),
            "files": {role: _file(file, config) for role, (file,) in corpus.files.items()},
        }


def _list(entries: Sequence[str]) -> str:
    return entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]"


def _flow(entries: Mapping[str, Any]) -> str:
    """Write entries in braces, as YAML has them within a line."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in entries.items())}}}"


def _words(words: WordsSettings) -> str:
    entries = {"kind": words.kind, **changed(words)}
    return words.kind if len(entries) == 1 else _flow(entries)


def _file(file: FileSettings, config: Path) -> str:
    relative = os.path.relpath(file.path, config)
    text = _scalar(file.path if relative.startswith("../../..") else relative)
    return text if file.member is None else _flow({"path": text, "member": _scalar(file.member)})


def _scalar(text: str) -> str:
    """Write a string as a YAML scalar inside braces or brackets, in quotes unless it is safe without."""
    import yaml

    is_plain = all(character.isalnum() or character in "./_-" for character in text)
    is_plain = is_plain and text[:1] not in "-" and yaml.safe_load(text) == text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
