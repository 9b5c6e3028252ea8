"""A data set of the user's own: its files, checked and surveyed, and the file that describes it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from nmtcore.config.catalogue import full_form
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import CONTRAST, GOLD, REQUIRED_SPLITS, TREEBANK, DatasetSettings, EvaluationSettings
from nmtcore.config.formats import FORMATS
from nmtcore.config.language_codes import check_language_code
from nmtcore.config.project import Project
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.yaml_files import yaml_files
from nmtcore.corpus.read import advice_on_blind
from nmtcore.corpus.streams import open_stream
from nmtcore.corpus.text_lines import SAMPLE, Input
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.layout import RESERVED
from nmtcore.new.component import check_own_name
from nmtcore.new.dataset_file import WITH_TREES, DatasetDraft, OwnCorpus
from nmtcore.new.round_trip import bleu_tokeniser, choose_words
from nmtcore.new.survey import add_round_trips, survey_dataset
from nmtcore.planning.known_parsers import choose_parsers, parsers_to_compare

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_ENDINGS = {".tsv": "tsv", ".tmx": "tmx", ".sgm": "sgm", ".sgml": "sgm", ".xml": "sgm", ".conllu": "conllu"}
_PLAIN_ENDINGS = ("", ".txt", ".text", ".src", ".tgt", ".trg", ".ref", ".tok", ".raw")


@dataclass(frozen=True, kw_only=True)
class NewDataset:
    """What the user says about a data set."""

    name: str
    source: str
    target: str
    """The source's, of a treebank of one language."""
    files: Mapping[str, Sequence[Sequence[str]]]
    """By split, the files of each corpus, as they were written: FILE, or ARCHIVE:MEMBER; "" for an absent side."""
    formats: Mapping[str, str] = field(default_factory=dict)
    """By split, or "" for all splits but treebanks; else the files tell, by their endings and first bytes."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Options of the format `tsv`."""
    max_bad_lines: int | None = None
    """Lines of a split that may be unreadable; None: `MOST_BAD` of them."""
    parser: str | None = None
    """The tool to parse with; "none": no parser; None: the one that is here, or can be downloaded."""


def check_new_name(name: str, project: Project, *, force: bool) -> Path:
    """Return the path of the new file; raise `UserError` if the name is not valid or, without `force`, is taken.

    Its folder is made, to see that it can be written to.
    """
    folder = project.folders[0] / "datasets"
    check_own_name(name, noun="data set")
    if name in project.scale_files or name in RESERVED:
        raise UserError(f"'{name}' is also the name of a scale or of a folder in results/: choose another name.")
    path = yaml_files(folder).get(name, folder / f"{name}.yaml")
    taken = path if path.exists() else project.dataset_files.get(name)
    if taken is not None and not force:
        effect = "overwrites it" if taken == path else "writes one that is used in its place"
        raise UserError(f"{taken} is a data set of that name: choose another name (--force {effect}).")
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path.parent).close()
    return path


def files_by_split(
    *,
    train: Sequence[Sequence[str]],
    dev: Sequence[Sequence[str]],
    test: Sequence[Sequence[str]],
    gold: Sequence[str],
) -> dict[str, list[Sequence[str]]]:
    """Return the files of the corpora of each split, from the options of the command line.

    A test may be called NAME=SOURCE,TARGET; those without a name are test, test2 and so on. A treebank is NAME=SOURCE,
    NAME=SOURCE,TARGET or NAME=,TARGET. Raises `UserError` if a name cannot be that of such a split, or if a split is
    missing.
    """
    files = {"train": [*train], "dev": [*dev]}
    unnamed = 0
    for words in test:
        name, paths = _named(words[0], noun="test") if len(words) == 1 else ("", words)
        if not name:
            unnamed += 1
            name = "test" if unnamed == 1 else f"test{unnamed}"
        if name in REQUIRED_SPLITS or name.startswith((GOLD, TREEBANK, CONTRAST)):
            raise UserError(f"--test {name}: the name means another sort of split: choose another name.")
        files.setdefault(name, []).append(paths)
    absent = [option for option, given in (("--train", train), ("--dev", dev), ("--test", test)) if not given]
    if absent and (len(absent) < 3 or not gold):
        raise UserError(f"{', '.join(absent)} missing: only a treebank alone (--gold) needs no such text.")
    for word in gold:
        name, paths = _named(word, noun="treebank", prefix=GOLD)
        if len(paths) > 2 or not any(paths) or not name:
            raise UserError(f"--gold {word}: write NAME=SOURCE, NAME=SOURCE,TARGET or NAME=,TARGET (files of CoNLL-U).")
        files[f"{GOLD}{name}"] = [paths]
    return {split: corpora for split, corpora in files.items() if corpora}


def _named(word: str, *, noun: str, prefix: str = "") -> tuple[str, Sequence[str]]:
    """Split NAME=FILE,FILE; the name is empty if there is none. Raises `UserError` if it cannot be that of a split."""
    name, sign, paths = word.partition("=")
    if not sign or os.path.exists(word) or {"/", ":"} & set(name):
        return "", [word]
    check_own_name(prefix + name, noun=noun)
    return name, paths.split(",")


def own_corpora(request: NewDataset) -> dict[str, OwnCorpus]:
    """Return the corpus of each split. Raises `UserError` if a file is missing or there are too few."""
    if not request.target:
        raise UserError("--target missing: only a treebank alone (--gold) has one language.")
    for option, code in (("--source", request.source), ("--target", request.target)):
        check_language_code(code, where=option)
    if others := [split for split in request.formats if split and split not in request.files]:
        raise UserError(f"--format {others[0]}={request.formats[others[0]]}: no files are given for {others[0]}.")
    corpora: dict[str, OwnCorpus] = {}
    for split, groups in request.files.items():
        for paths in groups:
            own = _own_corpus(request, split, paths)
            name = next((name for name, other in corpora.items() if other[:3] == own[:3]), None)
            if name is None:
                name = split
                while name in corpora:
                    name = f"{name}_{own.format}"
                corpora[name] = own
            else:
                files = {role: [*corpora[name].files[role], *files] for role, files in own.files.items()}
                corpora[name] = own._replace(files=files)
    if request.columns and all(own.format != "tsv" for own in corpora.values()):
        raise UserError("--columns, --separator and --header are for tables, but no file is one: add --format tsv.")
    if len({own.format in WITH_TREES for own in corpora.values() if own.split == "train"}) > 1:
        raise UserError("--train has files with trees and files without: make a data set of each sort.")
    return corpora


def _own_corpus(request: NewDataset, split: str, paths: Sequence[str]) -> OwnCorpus:
    """Return a corpus of the files that one option gives."""
    is_gold = split.startswith(GOLD)
    option = f"--{split}" if split in (*REQUIRED_SPLITS, "test") else f"--test {split}"
    option = f"--gold {split.removeprefix(GOLD)}" if is_gold else option
    given = [_own_input(path, option=option) if path else None for path in paths]
    chosen = "conllu" if is_gold else request.formats.get(split, request.formats.get(""))
    formats = [chosen or _format_of(own, request) for own in given if own]
    name, options = next(filter(None, formats), "plain"), {}
    formats = [format or name for format in formats]
    if {*formats} == {"conllu", "plain"}:
        name, options = "conllu", {f"{SIDES[formats.index('plain')]}_format": "plain"}
    elif len({*formats}) > 1:
        raise UserError(f"{option}: {paths[0]} is {name}, but {paths[1]} is {formats[1]}: convert one of them.")
    if name == "tsv":
        options = dict(request.columns)
    if name == "sgm" and len(given) == 1:  # sources and references in one file
        given, paths = given * 2, (*paths, "")
    roles = SIDES[: len(given)] if is_gold else FORMATS[name].roles
    if len(given) != len(roles):
        needed = " ".join(("SOURCE", "TARGET") if len(roles) > 1 else ("FILE",))
        number = f"{len(given)} file{'' if len(given) == 1 else 's'}"
        fault = f"{option} has {number}, but the format {name} needs {len(roles)}: write {option} {needed}"
        blind = advice_on_blind(split) if len(given) < len(roles) else ""
        table = f" If it is a table, add --format {split}=tsv." if name == "plain" and len(given) == 1 else ""
        raise UserError(f"{fault}{blind}.{table}")
    inputs = {role: own for role, own in zip(roles, given, strict=True) if own}
    if len(inputs) > 1 and all(paths) and _are_same(*inputs.values()):
        raise UserError(f"{option}: both sides are the same file, {paths[0]}: write {option} SOURCE TARGET.")
    return OwnCorpus(split, name, options, {role: [own] for role, own in inputs.items()})


def unknown_endings(request: NewDataset, corpora: Mapping[str, OwnCorpus]) -> Iterator[str]:
    """Say which files are read as plain text though their endings are of no format."""
    for own in corpora.values():
        if own.format == "plain" and not {"", own.split} & request.formats.keys():
            for file in (file for files in own.files.values() for file in files if _format_of(file, request) is None):
                yield (
                    f"{own.split}: {file.member or file.path.name} is read as plain text, since its ending is of no "
                    f"format (--format {own.split}=FORMAT chooses another)."
                )


def draft_dataset(request: NewDataset, corpora: Mapping[str, OwnCorpus], project: Project) -> DatasetDraft:
    """Read the files (as `own_corpora` returns them), and choose what fits them.

    A test that is a treebank is also a split to compare parsers with. Raises `UserError` for the first fault.
    """
    languages = dict(zip(SIDES, (request.source, request.target), strict=True))
    parsers = {side: () for side in SIDES}
    if request.parser != "none":
        choose = choose_parsers if "train" in corpora else parsers_to_compare
        parsers = choose(project, languages, request.parser)
    splits: dict[str, list[str]] = {}
    for name, corpus in corpora.items():
        splits.setdefault(corpus.split, []).append(name)
    for split in [split for split in splits if split not in REQUIRED_SPLITS and not split.startswith(GOLD)]:
        if all(corpora[name].format == "conllu" for name in splits[split]):
            splits[f"{GOLD}{split}"] = splits[split]
    dataset = _settings(request.name, languages, corpora, splits)
    survey = survey_dataset(dataset, {name: corpus.files for name, corpus in corpora.items()})
    for fault in survey.bad_lines(request.max_bad_lines, "--max-bad-lines {}") + survey.faults:
        raise UserError(fault)
    if "train" in corpora:
        format, texts = corpora["train"].format, survey.splits["train"].texts
        words = {
            side: WordsSettings(kind="given") if format in WITH_TREES else choose_words(texts[side], language)
            for side, language in languages.items()
        }
        is_cut = words["target"].kind == "spaces" or format == "czeng"
        tokenize = bleu_tokeniser(texts["target"], languages["target"])
        evaluation = EvaluationSettings(text="tokens" if is_cut else "detokenised", tokenize=tokenize)
        survey.dataset = replace(dataset, words=words, evaluation=evaluation)
        add_round_trips(survey)
    for fault in survey.unsegmented:
        raise UserError(fault)
    return DatasetDraft(corpora=corpora, splits=splits, survey=survey, parsers=parsers)


def _settings(
    name: str, languages: Mapping[str, str], corpora: Mapping[str, OwnCorpus], splits: Mapping[str, Sequence[str]]
) -> DatasetSettings:
    """Build settings with which the files can be read."""
    read = {
        own: {
            "format": corpus.format,
            "options": dict(corpus.options),
            "files": {role: [_entry(file) for file in files] for role, files in corpus.files.items()},
        }
        for own, corpus in corpora.items()
    }
    format = corpora["train"].format if "train" in corpora else "conllu"
    tests = [split for split in splits if split not in REQUIRED_SPLITS]
    values = {
        "description": name,
        **languages,
        "corpora": read,
        "splits": splits,
        "main_test": tests[0],
        "words": "given" if format in WITH_TREES else "spaces",
        "segmentation": {"kind": "bpe", "size": 1},
        "recipe": "small",
    }
    return full_form(name, values, {}, where=name)


def _entry(file: Input) -> dict[str, str]:
    return {"path": str(file.path)} | ({"member": file.member} if file.member else {})


def _own_input(text: str, *, option: str) -> Input:
    """Return an absolute path and a member. Raises `UserError` if it is no file that can be read more than once."""
    path, member = text, None
    if not os.path.exists(path) and ":" in text:
        path, _, member = text.partition(":")
    absolute = Path(os.path.abspath(os.path.expanduser(path)))
    if not absolute.is_file():
        reason = "is a folder, not a file" if absolute.is_dir() else "does not exist"
        if absolute.exists() and not absolute.is_dir():
            reason = "is not a regular file, and so cannot be read twice: write its content to one"
        raise UserError(f"{option}: {text} {reason}.")
    return Input(absolute, member)


def _are_same(first: Input, second: Input) -> bool:
    """Return whether two inputs are the same file, perhaps by links, or the same member of an archive."""
    return first.member == second.member and os.path.samefile(first.path, second.path)


def _format_of(file: Input, request: NewDataset) -> str | None:
    """Return the format that a file's ending or its first bytes show; None if neither does."""
    name = (file.member or file.path.name).lower()
    for compressed in _COMPRESSED:
        name = name.removesuffix(compressed)
    ending = os.path.splitext(name)[1]
    with open_stream(file.path, file.member) as stream:
        start = stream.read(SAMPLE).lstrip(b"\xef\xbb\xbf \r\n").lower()
    if start.startswith(b"<") and ending not in (".sgm", ".sgml"):
        for tag, format in ((b"<tmx", "tmx"), (b"<seg", "sgm")):
            if tag in start:
                return format
    codes = {f".{request.source}", f".{request.target}"}
    return _ENDINGS.get(ending, "plain" if ending in (*_PLAIN_ENDINGS, *codes) else None)
