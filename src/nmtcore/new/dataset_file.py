"""The commented file of a data set of the user's own, with choices that fit its text."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import GOLD, REQUIRED_SPLITS
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.typed import changed
from nmtcore.corpus.text_lines import Input
from nmtcore.corpus.writing_systems import main_script
from nmtcore.new.round_trip import bleu_tokeniser, choose_words
from nmtcore.new.survey import SplitSurvey, percentile
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

    name: str
    languages: Mapping[str, str]
    """Language codes by side."""
    corpora: Mapping[str, OwnCorpus]
    """By name; that of the first one of a split is the split's."""
    splits: Mapping[str, Sequence[str]]
    """The corpora of each split; a treebank may be a test and a `gold_` split."""
    surveys: Mapping[str, SplitSurvey]
    """By split."""
    words: Mapping[str, WordsSettings]
    """By side."""
    parsers: Mapping[str, Sequence[KnownParser]]
    """By side."""


def dataset_text(draft: DatasetDraft, *, config: Path) -> str:
    """Write the file of a data set, which belongs in the folder `datasets` of `config`."""
    source, target = (draft.languages[side] for side in SIDES)
    is_trained = "train" in draft.splits
    description = f"{draft.name}: trees of {' and '.join(dict.fromkeys((source, target)))}"
    if is_trained:
        description = f"{draft.name}: {source} to {target}, {draft.surveys['train'].pairs:,} training pairs"
    tests = _tests(draft)
    return filled(
        "dataset.yaml.jinja",
        name=draft.name,
        description=description,
        source=_scalar(source),
        target=_scalar(target) if is_trained or target != source else None,
        corpora="\n".join(_corpora(draft, config)),
        splits=", ".join(f"{split}: {_list(names)}" for split, names in draft.splits.items()),
        main_test=tests[0] if tests and "test" not in tests else None,
        bad_lines="".join(f"{line}\n" for line in _bad_lines(draft)),
        training=_training_values(draft) if is_trained else None,
        parsers="\n".join(_parsers(draft)),
    )


def _training_values(draft: DatasetDraft) -> dict[str, Any]:
    """Choose what only a data set to train on has."""
    survey, tests = draft.surveys["train"], _tests(draft)
    texts = {side: [pair[number] for pair in survey.sample] for number, side in enumerate(SIDES)}
    words = {side: _flow(draft.words[side]) for side in SIDES}
    same = len(set(words.values())) == 1
    is_cut = draft.words["target"].kind == "spaces" or draft.corpora["train"].format == "czeng"
    entry = "held_out" if len(tests) == 1 else f"{{name: held_out, splits: [{', '.join(['dev', *tests])}]}}"
    lengths = [
        own.characters if draft.words[side].kind == "characters" else own.words for side, own in survey.sides.items()
    ]
    first, second = (main_script(texts[side]) for side in SIDES)
    return {
        "words": words["source"] if same else f"{{source: {words['source']}, target: {words['target']}}}",
        "most": 250 if max(percentile(own, 0.99) for own in lengths) > 80 else 100,
        "held_out": _commented(f"  - {entry}", "pairs that are also in dev or a test"),
        "scripts": "both sides are in one script" if first == second else "the sides are in different scripts",
        "joint": str(first == second).lower(),
        "size": next(size for most, size in _SIZES if most is None or survey.pairs <= most),
        "text": "tokens" if is_cut else "detokenised",
        "tokenize": bleu_tokeniser(texts["target"], draft.languages["target"]),
    }


def _tests(draft: DatasetDraft) -> list[str]:
    return [split for split in draft.splits if split not in REQUIRED_SPLITS and not split.startswith(GOLD)]


def _corpora(draft: DatasetDraft, config: Path) -> Iterator[str]:
    for name, corpus in draft.corpora.items():
        survey, is_whole = draft.surveys[corpus.split], len(draft.splits[corpus.split]) == 1
        pairs = f"{survey.pairs + survey.bad.total():,} pairs"
        yield _commented(f"  {name}:", pairs if is_whole else f"a part of {corpus.split}, which has {pairs}")
        yield f"    format: {corpus.format}"
        if corpus.options:
            yield f"    options: {json.dumps(corpus.options, ensure_ascii=False)}"
        yield "    files:"
        for role, files in corpus.files.items():
            entries = [_file(file.path, file.member, config) for file in files]
            yield f"      {role}: {_list(entries)}"


def _list(entries: Sequence[str]) -> str:
    return entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]"


def _bad_lines(draft: DatasetDraft) -> list[str]:
    """Allow as many broken lines as the worst split has."""
    split, worst = max(draft.surveys.items(), key=lambda item: item[1].bad.total())
    if not worst.bad:
        return []
    return [
        f"# {split} has lines that cannot be read; they are dropped and counted. The first one is",
        f"# {json.dumps(worst.first_bad[0], ensure_ascii=False)[1:-1]}",
        f"max_bad_lines: {worst.bad.total()}",
    ]


def _file(path: Path, member: str | None, config: Path) -> str:
    relative = os.path.relpath(path, config)
    text = str(path) if relative.startswith("../../..") else relative
    return _scalar(text) if member is None else f"{{path: {_scalar(text)}, member: {_scalar(member)}}}"


def words_of(format: str, language: str, texts: Sequence[str]) -> WordsSettings:
    """Choose how text becomes words; a corpus with trees has its own."""
    return WordsSettings(kind="given") if format in WITH_TREES else choose_words(texts, language)


def _flow(words: WordsSettings) -> str:
    """Write settings of words in YAML, inside braces or brackets."""
    entries = {"kind": words.kind, **changed(words)}
    if len(entries) == 1:
        return words.kind
    return f"{{{', '.join(f'{key}: {value}' for key, value in entries.items())}}}"


def _parsers(draft: DatasetDraft) -> list[str]:
    has_gold = any(split.startswith(GOLD) for split in draft.splits)
    gold = [_commented("  existing: {tool: existing}", "the trees of the treebanks")] if has_gold else []
    if "train" in draft.corpora and draft.corpora["train"].format in WITH_TREES:
        return [
            "# The trees come with the corpus.",
            "annotators: {existing: {tool: existing}}",
            "syntax:",
            "  source: {dependencies: existing, tags: existing}",
            "  target: {dependencies: existing, tags: existing}",
        ]
    chosen = {parser.name: parser for side in SIDES for parser in draft.parsers[side]}
    intro = [
        "# Parsers and taggers, for the systems that read trees or tags; no other system runs them. Tools, models and",
        "# kinds of annotation (also ccg and constituency) are in the repository's docs/parsers.md.",
    ]
    if "train" not in draft.splits:
        intro = ["# Parsers to compare with the trees: results/tables/parsers.md. docs/parsers.md says what there is."]
    elif not chosen:
        languages = " or ".join(dict.fromkeys(draft.languages.values()))
        intro.append(f"# None is chosen for {languages}, so systems that need trees or tags cannot be trained yet.")
        return [*intro, "annotators:", *gold] if has_gold else intro
    places = {"here": "its model is here", "download": "downloaded at its first use", "by hand": "fetch it by hand"}
    return [
        *intro,
        "annotators:",
        *gold,
        *(
            _commented(
                f"  {name}: {{{', '.join(f'{key}: {value}' for key, value in parser.entry.items())}}}",
                places[parser.place],
            )
            for name, parser in chosen.items()
        ),
        *(_syntax(draft) if "train" in draft.splits else []),
    ]


def _syntax(draft: DatasetDraft) -> list[str]:
    return [
        _commented("syntax:", "which annotator gives what, by side"),
        *(
            f"  {side}: {{{', '.join(f'{gift}: {p.name}' for p in draft.parsers[side] for gift in p.gives)}}}"
            for side in SIDES
            if draft.parsers[side]
        ),
    ]


def _commented(line: str, comment: str) -> str:
    return f"{line:<43} # {comment}"


def _scalar(text: str) -> str:
    """Write a string as a YAML scalar inside braces or brackets, in quotes unless it is safe without."""
    import yaml

    is_plain = all(character.isalnum() or character in "./_-" for character in text)
    is_plain = is_plain and text[:1] not in "-" and yaml.safe_load(text) == text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
