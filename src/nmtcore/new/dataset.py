"""A data set of the user's own: its files, checked and surveyed, and the file that describes it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from nmtcore.config.catalogue import full_form
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import CONTRAST, GOLD, REQUIRED_SPLITS, TREEBANK, DatasetSettings
from nmtcore.config.formats import FORMATS
from nmtcore.config.language_codes import check_language_code
from nmtcore.config.project import Project
from nmtcore.config.yaml_files import yaml_files
from nmtcore.corpus.read import advice_on_blind
from nmtcore.corpus.text_lines import Input, how_to_convert
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.layout import RESERVED
from nmtcore.new.component import check_own_name
from nmtcore.new.dataset_file import DatasetDraft, OwnCorpus, words_of
from nmtcore.new.survey import DatasetSurvey, survey_dataset
from nmtcore.planning.known_parsers import choose_parsers, parsers_to_compare

MOST_BAD = 0.01
"""From this share of lines that cannot be read on, a file must be corrected."""
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_ENDINGS = {".tsv": "tsv", ".tmx": "tmx", ".sgm": "sgm", ".sgml": "sgm", ".conllu": "conllu"}


@dataclass(frozen=True, kw_only=True)
class NewDataset:
    """What the user says about a data set."""

    name: str
    source: str
    target: str
    """The source's, of a treebank of one language."""
    files: Mapping[str, Sequence[Sequence[str]]]
    """By split, the files of each corpus, as they were written: FILE, or ARCHIVE:MEMBER; "" for an absent side."""
    format: str | None = None
    """That of all files but treebanks; None: by the ending of the first file of each split."""
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
    return {split: _own_corpus(request, split) for split in request.files}


def _own_corpus(request: NewDataset, split: str) -> OwnCorpus:
    corpora, is_gold = request.files[split], split.startswith(GOLD)
    option = f"--{split}" if split in (*REQUIRED_SPLITS, "test") else f"--test {split}"
    option = f"--gold {split.removeprefix(GOLD)}" if is_gold else option
    name = "conllu" if is_gold else request.format or _format_of(corpora[0][0])
    roles = SIDES[: len(corpora[0])] if is_gold else FORMATS[name].roles
    files: dict[str, list[Input]] = {role: [] for role in roles}
    for paths in corpora:
        if len(paths) != len(roles):
            needed = " ".join(("SOURCE", "TARGET") if len(roles) > 1 else ("FILE",))
            given = f"{len(paths)} file{'' if len(paths) == 1 else 's'}"
            fault = f"{option} has {given}, but the format {name} needs {len(roles)}: write {option} {needed}"
            raise UserError(f"{fault}{advice_on_blind(split) if len(paths) < len(roles) else ''}.")
        inputs = {role: _own_input(path, option=option) for role, path in zip(roles, paths, strict=True) if path}
        if len(inputs) > 1 and _are_same(*inputs.values()):
            raise UserError(f"{option}: both sides are the same file, {paths[0]}: write {option} SOURCE TARGET.")
        for role, own in inputs.items():
            files[role].append(own)
    return OwnCorpus(name, {role: own for role, own in files.items() if own})


def draft_dataset(
    request: NewDataset, corpora: Mapping[str, OwnCorpus], project: Project
) -> tuple[DatasetDraft, DatasetSurvey]:
    """Read the files (as `own_corpora` returns them), and choose what fits them.

    A test that is a treebank is also a split to compare parsers with. Raises `UserError` for the first fault.
    """
    languages = dict(zip(SIDES, (request.source, request.target), strict=True))
    parsers = {side: () for side in SIDES}
    if request.parser != "none":
        choose = choose_parsers if "train" in corpora else parsers_to_compare
        parsers = choose(project, languages, request.parser)
    tests = [name for name in corpora if name not in REQUIRED_SPLITS and not name.startswith(GOLD)]
    treebanks = {f"{GOLD}{name}": name for name in tests if corpora[name].format == "conllu"}
    splits = {**{name: name for name in corpora}, **treebanks}
    dataset = _settings(request.name, languages, corpora, splits)
    survey = survey_dataset(dataset, {name: corpus.files for name, corpus in corpora.items()})
    for split, own in survey.splits.items():
        bad, pairs = own.bad.total(), own.bad.total() + own.pairs
        if bad > MOST_BAD * pairs:
            first = own.first_bad[0]
            counted = f"{bad:,} of {pairs:,} pairs of {split} cannot be read. The first one: {first}"
            raise UserError(f"{counted}.{how_to_convert(first)}")
    if faults := survey.faults + survey.unsegmented:
        raise UserError(faults[0])
    draft = DatasetDraft(
        name=request.name,
        languages=languages,
        corpora=corpora,
        splits=splits,
        surveys=survey.splits,
        parsers=parsers,
    )
    return draft, survey


def _settings(
    name: str, languages: Mapping[str, str], corpora: Mapping[str, OwnCorpus], splits: Mapping[str, str]
) -> DatasetSettings:
    """Build settings with which the files can be read."""
    read = {
        own: {
            "format": corpus.format,
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
        "words": {side: words_of(format, languages[side], ()) for side in SIDES},
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


def _format_of(path: str) -> str:
    name = path.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return _ENDINGS.get(os.path.splitext(name)[1], "plain")
