"""A data set of the user's own: its files, checked and surveyed, and the file that describes it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmtcore.config.catalogue import full_form
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.formats import FORMATS
from nmtcore.config.language_codes import check_language_code
from nmtcore.config.project import Project
from nmtcore.config.yaml_files import yaml_files
from nmtcore.corpus.survey import DatasetSurvey, survey_dataset
from nmtcore.corpus.text_lines import Input
from nmtcore.errors import UserError
from nmtcore.layout import RESERVED
from nmtcore.planning.dataset_file import DatasetDraft, fixed_words
from nmtcore.planning.known_parsers import choose_parsers
from nmtcore.planning.new_component import check_own_name

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
    files: Mapping[str, Sequence[Sequence[str]]]
    """By split, the files of each corpus, as they were written: FILE, or ARCHIVE:MEMBER."""
    format: str | None = None
    """That of all files; None: by the ending of the first file."""
    parser: str | None = None
    """The tool to parse with; "none": no parser; None: the one that is here, or can be downloaded."""


def check_new_name(name: str, project: Project, *, force: bool) -> Path:
    """Return the path of the new file; raise `UserError` if the name is not valid or, without `force`, is taken."""
    folder = project.folders[0] / "datasets"
    check_own_name(name, noun="data set")
    if name in project.scale_files or name in RESERVED:
        raise UserError(f"'{name}' is also the name of a scale or of a folder in results/: choose another name.")
    path = yaml_files(folder).get(name, folder / f"{name}.yaml")
    taken = path if path.exists() else project.dataset_files.get(name)
    if taken is not None and not force:
        effect = "overwrites it" if taken == path else "writes one that is used in its place"
        raise UserError(f"{taken} is a data set of that name: choose another name (--force {effect}).")
    return path


def corpus_files(request: NewDataset) -> tuple[str, dict[str, dict[str, list[Input]]]]:
    """Return the format, and the files by split and role. Raises `UserError` if one is missing or there are too few."""
    for option, code in (("--source", request.source), ("--target", request.target)):
        check_language_code(code, where=option)
    name = request.format or _format_of(request.files["train"][0][0])
    roles = FORMATS[name].roles
    files: dict[str, dict[str, list[Input]]] = {}
    for split, corpora in request.files.items():
        files[split] = {role: [] for role in roles}
        for paths in corpora:
            if len(paths) != len(roles):
                needed = " ".join(("SOURCE", "TARGET") if len(roles) > 1 else ("FILE",))
                given = f"{len(paths)} file{'' if len(paths) == 1 else 's'}"
                raise UserError(
                    f"--{split} has {given}, but the format {name} needs {len(roles)}: write --{split} {needed}."
                )
            inputs = [_own_input(path, option=f"--{split}") for path in paths]
            if len(inputs) > 1 and _are_same(*inputs):
                raise UserError(f"--{split}: both sides are the same file, {paths[0]}: write --{split} SOURCE TARGET.")
            for role, own in zip(roles, inputs, strict=True):
                files[split][role].append(own)
    return name, files


def draft_dataset(
    request: NewDataset,
    format_name: str,
    files: Mapping[str, Mapping[str, list[Input]]],
    project: Project,
) -> tuple[DatasetDraft, DatasetSurvey]:
    """Read the files (as `corpus_files` returns them), and choose what fits them.

    Raises `UserError` for the first fault in them.
    """
    languages = dict(zip(SIDES, (request.source, request.target), strict=True))
    parsers = {side: () for side in SIDES}
    if request.parser != "none":
        parsers = choose_parsers(project, languages, request.parser)
    dataset = _settings(request.name, languages, format_name, files)
    survey = survey_dataset(dataset, files)
    for split, own in survey.splits.items():
        bad, pairs = own.bad.total(), own.bad.total() + own.pairs
        if bad > MOST_BAD * pairs:
            raise UserError(f"{bad:,} of {pairs:,} pairs of {split} cannot be read. The first one: {own.first_bad[0]}")
    if faults := survey.faults + survey.unsegmented:
        raise UserError(faults[0])
    draft = DatasetDraft(
        name=request.name,
        languages=languages,
        format=format_name,
        files=files,
        surveys=survey.splits,
        shares=survey.shares["train"],
        parsers=parsers,
    )
    return draft, survey


def _settings(
    name: str, languages: Mapping[str, str], format_name: str, files: Mapping[str, Mapping[str, Sequence[Input]]]
) -> DatasetSettings:
    """Build settings with which the files can be read."""
    corpora = {
        split: {
            "format": format_name,
            "files": {role: [_entry(file) for file in entries] for role, entries in roles.items()},
        }
        for split, roles in files.items()
    }
    values = {
        "description": name,
        **languages,
        "corpora": corpora,
        "splits": {split: split for split in files},
        "words": {side: fixed_words(format_name, languages[side]) or "moses" for side in SIDES},
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
