"""A data set of the user's own: its files, checked and surveyed, and the file that describes it."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from nmtcore.config.catalogue import full_form
from nmtcore.config.corpora import FORMATS, SIDES, FileSettings, WordsSettings
from nmtcore.config.datasets import CONTRAST, GOLD, REQUIRED_SPLITS, TREEBANK, DatasetSettings
from nmtcore.config.files import yaml_files
from nmtcore.config.project import Project
from nmtcore.config.training import EvaluationSettings
from nmtcore.corpus.read import advice_on_blind
from nmtcore.corpus.streams import open_stream
from nmtcore.corpus.text_lines import SAMPLE
from nmtcore.errors import UserError
from nmtcore.layout import RESERVED
from nmtcore.new.component import check_own_name
from nmtcore.new.dataset_file import WITH_TREES
from nmtcore.new.known_parsers import KnownParser, choose_parsers, parsers_to_compare
from nmtcore.new.round_trip import bleu_tokeniser, choose_words
from nmtcore.new.survey import DatasetSurvey, add_round_trips, survey_dataset

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_ENDINGS = {".tsv": "tsv", ".tmx": "tmx", ".sgm": "sgm", ".sgml": "sgm", ".xml": "sgm", ".conllu": "conllu"}
_PLAIN_ENDINGS = ("", ".txt", ".text", ".src", ".tgt", ".trg", ".ref", ".tok", ".raw")
_ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et
eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk
kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny
oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk
tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
_TWO_LETTERS = frozenset(_ISO_639_1.split())
_THREE_FOR_TWO = """
ara:ar bul:bg cat:ca ces:cs cze:cs chi:zh zho:zh dan:da deu:de ger:de dut:nl nld:nl ell:el gre:el eng:en est:et eus:eu
fas:fa per:fa fin:fi fra:fr fre:fr gle:ga heb:he hin:hi hrv:hr hun:hu ice:is isl:is ita:it jpn:ja kor:ko lav:lv lit:lt
nob:nb nor:no pol:pl por:pt ron:ro rum:ro rus:ru slk:sk slo:sk slv:sl spa:es srp:sr swe:sv tur:tr ukr:uk vie:vi
"""
_MEANT = dict(pair.split(":") for pair in _THREE_FOR_TWO.split())
"""The codes of two letters that codes of three stand for."""


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


def own_dataset(request: NewDataset) -> DatasetSettings:
    """Return settings with which the files can be read. Raises `UserError` if a file is missing or there are too few.

    Every use of an option is a corpus. A test that is a treebank is also a split to compare parsers with.
    """
    if not request.target:
        raise UserError("--target missing: only a treebank alone (--gold) has one language.")
    for option, code in (("--source", request.source), ("--target", request.target)):
        _check_language_code(code, where=option)
    if others := [split for split in request.formats if split and split not in request.files]:
        raise UserError(f"--format {others[0]}={request.formats[others[0]]}: no files are given for {others[0]}.")
    corpora: dict[str, dict[str, Any]] = {}
    splits: dict[str, list[str]] = {}
    for split, groups in request.files.items():
        for paths in groups:
            numbered = (f"{split}_{number}" for number in count(2))
            name = next(name for name in chain([split], numbered) if name not in corpora)
            corpora[name] = _own_corpus(request, split, paths)
            splits.setdefault(split, []).append(name)
    formats = {split: {corpora[name]["format"] for name in names} for split, names in splits.items()}
    if request.columns and not any("tsv" in split_formats for split_formats in formats.values()):
        raise UserError("--columns, --separator and --header are for tables, but no file is one: add --format tsv.")
    has_trees = {format in WITH_TREES for format in formats.get("train", {"conllu"})}
    if len(has_trees) > 1:
        raise UserError("--train has files with trees and files without: make a data set of each sort.")
    tests = [split for split in splits if split not in REQUIRED_SPLITS]
    banks = [split for split in tests if not split.startswith(GOLD) and formats[split] == {"conllu"}]
    values = {
        "description": request.name,
        "source": request.source,
        "target": request.target,
        "corpora": corpora,
        "splits": splits | {f"{GOLD}{split}": splits[split] for split in banks},
        "main_test": tests[0],
        "words": "given" if has_trees == {True} else "spaces",
        "segmentation": {"kind": "bpe", "size": 1},
        "recipe": "small",
    }
    return full_form(request.name, values, {}, where=request.name)


def _check_language_code(code: str, *, where: str) -> None:
    """Raise `UserError` unless `code` has two letters of ISO 639-1, or three that stand for no such code."""
    if code in _TWO_LETTERS or (re.fullmatch("[a-z]{3}", code) and code not in _MEANT):
        return
    hint = f" Did you mean {_MEANT[code]}?" if code in _MEANT else ""
    raise UserError(
        f"{where}: '{code}' is no language code: write the two letters of ISO 639-1, such as en or cs (or three of ISO"
        f" 639-3, if a language has no two).{hint}"
    )


def _own_corpus(request: NewDataset, split: str, paths: Sequence[str]) -> dict[str, Any]:
    """Return the entry of a corpus of the files that one option gives."""
    is_gold = split.startswith(GOLD)
    option = f"--{split}" if split in (*REQUIRED_SPLITS, "test") else f"--test {split}"
    option = f"--gold {split.removeprefix(GOLD)}" if is_gold else option
    given = [_own_file(path, option=option) if path else None for path in paths]
    chosen = "conllu" if is_gold else request.formats.get(split, request.formats.get(""))
    formats = [chosen or _format_of(file, request) for file in given if file]
    name, options = next(filter(None, formats), "plain"), {}
    formats = [format or name for format in formats]
    if {*formats} == {"conllu", "plain"}:
        name, options = "conllu", {f"{SIDES[formats.index('plain')]}_format": "plain"}
    elif len({*formats}) > 1:
        raise UserError(f"{option}: {paths[0]} is {name}, but {paths[1]} is {formats[1]}: convert one of them.")
    if name == "tsv":
        options = dict(request.columns)
    is_one = name == "sgm" and len(given) == 1  # sources and references in one file
    given *= 1 + is_one
    roles = SIDES[: len(given)] if is_gold else FORMATS[name].roles
    if len(given) != len(roles):
        needed = " ".join(("SOURCE", "TARGET") if len(roles) > 1 else ("FILE",))
        number = f"{len(given)} file{'' if len(given) == 1 else 's'}"
        fault = f"{option} has {number}, but the format {name} needs {len(roles)}: write {option} {needed}"
        blind = advice_on_blind(split) if len(given) < len(roles) else ""
        table = f" If it is a table, add --format {split}=tsv." if name == "plain" and len(given) == 1 else ""
        raise UserError(f"{fault}{blind}.{table}")
    if len(given) > 1 and all(given) and not is_one and _are_same(*given):
        raise UserError(f"{option}: both sides are the same file, {paths[0]}: write {option} SOURCE TARGET.")
    files = {role: {"path": file.path, "member": file.member} for role, file in zip(roles, given, strict=True) if file}
    return {"format": name, "options": options, "files": files}


def survey_own(request: NewDataset, dataset: DatasetSettings) -> DatasetSurvey:
    """Read the files (`own_dataset`), and choose words and scores that fit them.

    Raises `UserError` for the first fault.
    """
    survey = survey_dataset(dataset)
    for fault in survey.bad_lines(request.max_bad_lines, "--max-bad-lines {}") + survey.faults:
        raise UserError(fault)
    if "train" in dataset.splits:
        format, texts = dataset.corpora["train"].format, survey.splits["train"].texts
        words = {
            side: WordsSettings(kind="given") if format in WITH_TREES else choose_words(texts[side], language)
            for side, language in survey.languages.items()
        }
        is_cut = words["target"].kind == "spaces" or format == "czeng"
        tokenize = bleu_tokeniser(texts["target"], dataset.target)
        evaluation = EvaluationSettings(text="tokens" if is_cut else "detokenised", tokenize=tokenize)
        survey.dataset = replace(dataset, words=words, evaluation=evaluation)
        add_round_trips(survey)
    for fault in survey.unsegmented:
        raise UserError(fault)
    return survey


def own_parsers(request: NewDataset, dataset: DatasetSettings, project: Project) -> dict[str, Sequence[KnownParser]]:
    """Choose the parsers of each side."""
    if request.parser == "none":
        return dict.fromkeys(SIDES, ())
    choose = choose_parsers if "train" in dataset.splits else parsers_to_compare
    return choose(project, {"source": dataset.source, "target": dataset.target}, request.parser)


def _own_file(text: str, *, option: str) -> FileSettings:
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
    return FileSettings(path=str(absolute), member=member)


def _are_same(first: FileSettings, second: FileSettings) -> bool:
    """Return whether two inputs are the same file, perhaps by links, or the same member of an archive."""
    return first.member == second.member and os.path.samefile(first.path, second.path)


def _format_of(file: FileSettings, request: NewDataset) -> str | None:
    """Return the format that a file's ending or its first bytes show; None if neither does."""
    name = (file.member or Path(file.path).name).lower()
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
