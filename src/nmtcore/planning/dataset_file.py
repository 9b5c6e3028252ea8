"""The commented file of a data set of the user's own, with choices that fit its text."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmtcore.config.corpora import SIDES
from nmtcore.corpus.survey import LanguageShare, SplitSurvey, percentile
from nmtcore.corpus.text_lines import Input
from nmtcore.corpus.writing_systems import looks_tokenised, main_script
from nmtcore.planning.known_parsers import KnownParser

OTHER_LANGUAGE_SHARE = 0.05
"""From this share of training sentences in another language on, they are filtered."""
WITH_TREES = ("conllu", "czeng")
"""Formats that have words and trees."""
_SIZES = ((10_000, 2_000), (100_000, 6_000), (1_000_000, 16_000), (None, 32_000))
"""Numbers of merges for up to so many training pairs."""


@dataclass(frozen=True, kw_only=True)
class DatasetDraft:
    """What is known about a data set of the user's own."""

    name: str
    languages: Mapping[str, str]
    """Language codes by side."""
    format: str
    files: Mapping[str, Mapping[str, Sequence[Input]]]
    """By split and role of the format."""
    surveys: Mapping[str, SplitSurvey]
    """By split."""
    shares: Mapping[str, LanguageShare]
    """By side of the training split."""
    parsers: Mapping[str, Sequence[KnownParser]]
    """By side."""

    @property
    def pairs(self) -> int:
        """The training pairs."""
        return self.surveys["train"].pairs


_TEXT = """\
# yaml-language-server: $schema=../schemas/datasets.schema.json
# A data set of our own, written by `nmtcore new dataset`. Change what you like; then look at the result with
# `nmtcore check {name}`. The repository's config/README.md explains every key.
description: "{name}: {source} to {target}, {pairs:,} training pairs"
licence: ""                                 # whose text it is; manifests and reports repeat it
citation: ""                                # what to cite
source: {source_code}
target: {target_code}

# One entry per corpus. Files are read where they are; relative paths start at config/.
# Compressed files work too, and members of archives: {{path: ..., member: ...}}.
corpora:
{corpora}

# train and dev are needed; all other names are tests (gold_NAME: a treebank to compare parsers with).
# A split of several corpora is a list: [first, second].
splits: {{{splits}}}
{bad_lines}
# How text becomes words: moses (Moses' tokeniser), spaces (the text is tokenised already), mecab (Japanese),
# given (words that come with the corpus: conllu, czeng). Parsers get these words.
words: {words}

# What is dropped from train, in this order; dev and test are never filtered. Each drop is counted in
# results/{name}/corpus/train.json. `empty` is needed: an empty side cannot be trained on.
filters:
  - empty                                   # pairs with an empty side
  - {{name: length, most: {most}}}               # pairs with a side of more words; rare, and costly in memory
  - {{name: ratio, most: 9}}                  # pairs with one side of over 9 times the words of the other
  - duplicates                              # all but the first of equal pairs
  - held_out                                # pairs that are also in dev or a test
{language_filter}
{parsers}

# Subwords: the number of merges of byte pair encoding (about 6,000 for 30,000 pairs, 32,000 for millions).
# joint: both sides share merges, vocabulary and embeddings ({scripts}).
segmentation: {{kind: bpe, joint: {joint}, size: {size}}}

# Model, training and search (config/recipes): small is for up to about a million pairs; the papers' recipes,
# such as pham2018 and bugliarello2020, are for more.
recipe: small

# Scores: detokenised translations against the references as they are. roots: one (UD) or many per tree.
evaluation: {{text: detokenised, tokenize: {tokenize}, roots: one}}
"""


def dataset_text(draft: DatasetDraft, *, config: Path) -> str:
    """Write the file of a data set, which belongs in the folder `datasets` of `config`."""
    source, target = (draft.languages[side] for side in SIDES)
    sides = draft.surveys["train"].sides
    first, second = (main_script(_texts(draft, side)) for side in SIDES)
    words = {side: fixed_words(draft.format, draft.languages[side]) or _words(_texts(draft, side)) for side in SIDES}
    same = len(set(words.values())) == 1
    return _TEXT.format(
        name=draft.name,
        source=source,
        target=target,
        pairs=draft.pairs,
        source_code=_scalar(source),
        target_code=_scalar(target),
        corpora="\n".join(_corpora(draft, config)),
        splits=", ".join(f"{split}: {split}" for split in draft.files),
        bad_lines="".join(f"{line}\n" for line in _bad_lines(draft)),
        words=words["source"] if same else f"{{source: {words['source']}, target: {words['target']}}}",
        most=250 if max(percentile(sides[side].words, 0.99) for side in SIDES) > 80 else 100,
        language_filter="".join(f"{line}\n" for line in _language_filter(draft)),
        parsers="\n".join(_parsers(draft)),
        scripts="both sides are in one script" if first == second else "the sides are in different scripts",
        joint=str(first == second).lower(),
        size=next(size for pairs, size in _SIZES if pairs is None or draft.pairs <= pairs),
        tokenize=target if target in ("ja", "zh") else "13a",
    )


def _corpora(draft: DatasetDraft, config: Path) -> Iterator[str]:
    for split, roles in draft.files.items():
        survey = draft.surveys[split]
        yield _commented(f"  {split}:", f"{survey.pairs + survey.bad.total():,} pairs")
        yield f"    format: {draft.format}"
        yield "    files:"
        for role, files in roles.items():
            entries = [_file(file.path, file.member, config) for file in files]
            yield f"      {role}: " + (entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]")


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


def _words(texts: list[str]) -> str:
    return "spaces" if looks_tokenised(texts) else "moses"


def fixed_words(format: str, language: str) -> str | None:
    """Return how text becomes words if the format or the language decides it."""
    if format in WITH_TREES:
        return "given"
    return "mecab" if language == "ja" else None


def _language_filter(draft: DatasetDraft) -> list[str]:
    """Filter by language if much of the text seems to be in another one; else leave the filter as a comment."""
    if len(draft.shares) < len(SIDES):
        return []  # langdetect must know the languages of both sides
    shares = ", ".join(f"{draft.languages[side]} {100 * share.share:.1f} %" for side, share in draft.shares.items())
    is_needed = max(share.share for share in draft.shares.values()) >= OTHER_LANGUAGE_SHARE
    entry = f"  {'-' if is_needed else '# -'} langdetect"
    return [_commented(entry, f"pairs in another language; in a sample, it seems, {shares}")]


def _parsers(draft: DatasetDraft) -> list[str]:
    if draft.format in WITH_TREES:
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
    if not chosen:
        languages = " or ".join(dict.fromkeys(draft.languages.values()))
        return [*intro, f"# None is chosen for {languages}, so systems that need trees or tags cannot be trained yet."]
    places = {"here": "its model is here", "download": "downloaded at its first use", "by hand": "fetch it by hand"}
    return [
        *intro,
        "annotators:",
        *(
            _commented(
                f"  {name}: {{{', '.join(f'{key}: {value}' for key, value in parser.entry.items())}}}",
                places[parser.place],
            )
            for name, parser in chosen.items()
        ),
        _commented("syntax:", "which annotator gives what, by side"),
        *(
            f"  {side}: {{{', '.join(f'{gift}: {p.name}' for p in draft.parsers[side] for gift in p.gives)}}}"
            for side in SIDES
            if draft.parsers[side]
        ),
    ]


def _texts(draft: DatasetDraft, side: str) -> list[str]:
    return [pair[SIDES.index(side)] for pair in draft.surveys["train"].sample]


def _commented(line: str, comment: str) -> str:
    return f"{line:<43} # {comment}"


def _scalar(text: str) -> str:
    """Write a string as a YAML scalar inside braces or brackets, in quotes unless it is safe without."""
    import yaml

    is_plain = all(character.isalnum() or character in "./_-" for character in text)
    is_plain = is_plain and text[:1] not in "-" and yaml.safe_load(text) == text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
