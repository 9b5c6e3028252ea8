"""Bundles: a trained model as a self-contained folder, with loading, saving and translation.

weights.safetensors   every parameter once, under its first name
run.json              the run's settings: model, components, tokenisation, segmentation, annotators, decoding
{side}.vocab          the run's vocabularies, including the tags of its transforms
codes, {side}.codes   the codes files of the segmentation
truecase.{side}.txt   the truecasing models
own.NAME.py           a copy of each component of the user's own (config/components/NAME.py), for the record
{side}.labels.json    the label vocabularies of the features that components and transforms read
bundle.json           written last: the format's version and the sha256 of every other file
"""

import hashlib
import math
import os
import shutil
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from nmtcore.annotation.labels import read_labels
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES
from nmtcore.config.own_code import code_checksum, has_own, own_checksum, own_checksums, own_path
from nmtcore.config.runs import RunSettings, run_from_json, run_to_json
from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.text_lines import clean_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.truecase import Truecaser
from nmtcore.errors import UserError, explain_os_errors, quoted
from nmtcore.features.examples import Examples
from nmtcore.features.schema import labels_of
from nmtcore.features.transforms.chain import LocatedWord, Transforms, missing_tags, run_vocabularies
from nmtcore.files import atomic_folder, partial_of, read_json, write_json
from nmtcore.inference.hypotheses import Hypothesis
from nmtcore.inference.raw import TextReader, grouped_texts
from nmtcore.inference.translate import translate_examples
from nmtcore.layout import file_name
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import LabelVocabularies
from nmtcore.model.build import build_model, count_parameters
from nmtcore.model.components.base import Component
from nmtcore.model.device import named_device
from nmtcore.segmentation.segmenter import Segmenter, codes_name
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.training.checkpoints import named_weights, save_tensors

T = TypeVar("T")

FORMAT = 3
"""The version of the bundle format."""
_OWN = "own."
"""Prefix of the copies of the user's own components, `own.NAME.py`."""
WEIGHTS = "weights.safetensors"
"""The file of the weights."""
MANIFEST = "bundle.json"
"""The file that lists all other files."""
LINES_PER_CHUNK = 2000
"""Lines of raw text that are read, sorted and translated at once."""


class ScoredText(NamedTuple):
    """A translation of a line, with its score."""

    text: str
    score: float


class TranslatedLines(NamedTuple):
    """Consecutive lines of a text, as examples with their translations.

    A line without words has no example; a very long line has one for each of its parts.
    """

    first: int
    """The number of the first line, from 0."""
    count: int
    """The number of lines."""
    examples: Examples
    line_of_example: list[int]
    """The line of each example, from 0 in these lines."""
    translations: list[list[Hypothesis]]
    """The best hypotheses of each example, best first."""

    def by_line(self, values: Sequence[T]) -> list[list[T]]:
        """Group values, one per example, by line."""
        grouped_values: list[list[T]] = [[] for _ in range(self.count)]
        for line, value in zip(self.line_of_example, values, strict=True):
            grouped_values[line].append(value)
        return grouped_values


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A loaded model in evaluation mode, with its settings, vocabularies, segmenters and labels."""

    run: RunSettings
    model: TranslationModel
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    source_segmenter: Segmenter
    target_segmenter: Segmenter
    truecaser: Truecaser | None = None
    """The source side's truecasing model, if its words are truecased."""
    target_truecaser: Truecaser | None = None
    labels: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @cached_property
    def transforms(self) -> Transforms:
        """The transforms of the run, applied to the model's examples and undone in its output."""
        return Transforms.of(self.run, self.vocabularies, self.labels)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies by side."""
        return {"source": self.source_vocabulary, "target": self.target_vocabulary}

    def search_settings(self, settings: DecodingSettings | None = None) -> DecodingSettings:
        """Return the settings with which to search for outputs; `settings` for text default to the run's."""
        return self.transforms.search_settings(settings or self.run.decoding)

    def decoding_settings(self, **changes: Any) -> DecodingSettings:
        """Return the run's decoding settings with `changes` applied; a value of None changes nothing."""
        try:
            return replace(self.run.decoding, **{name: value for name, value in changes.items() if value is not None})
        except ValueError as error:
            raise UserError(f"decoding: {error}.") from error

    def words(self, tokens: Sequence[int]) -> list[str]:
        """Join the subwords of a hypothesis into words."""
        return self.transforms.words(tokens, self.target_vocabulary, self.target_segmenter)

    def locate_words(self, tokens: Sequence[int]) -> list[LocatedWord]:
        """Return the words of a hypothesis, each with its position and that of the tag before it."""
        return self.transforms.locate_words(tokens, self.target_vocabulary, self.target_segmenter)

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of a hypothesis, detokenised according to the data set's settings of words."""
        return WordTokenizer(self.run.text_words("target"), self.run.target).join(self.words(tokens))

    def reader(self, model_folders: Sequence[Path] = (), *, from_treebank: bool = False) -> TextReader:
        """Make a reader of raw text for this model; `model_folders` hold the annotators' models."""
        return TextReader(
            self.run,
            self.source_vocabulary,
            self.source_segmenter,
            self.transforms,
            truecaser=self.truecaser,
            labels=self.labels,
            model_folders=model_folders,
            from_treebank=from_treebank,
        )

    def translate(self, lines: Iterable[str | bytes], settings: DecodingSettings | None = None) -> Iterator[str]:
        """Translate raw text line by line, in order; see `translate_n_best`."""
        for translations in self.translate_n_best(lines, settings, scores=False):
            yield translations[0].text

    def translate_n_best(
        self,
        lines: Iterable[str | bytes],
        settings: DecodingSettings | None = None,
        *,
        n_best: int = 1,
        scores: bool = True,
        chunk: int = LINES_PER_CHUNK,
        where: str = "standard input",
        model_folders: Sequence[Path] = (),
    ) -> Iterator[list[ScoredText]]:
        """Yield the best translations of each line, best first; see `translate_lines` and `texts`."""
        for translated in self.translate_lines(
            lines, settings, n_best=n_best, scores=scores, chunk=chunk, where=where, model_folders=model_folders
        ):
            yield from self.texts(translated)

    def translate_lines(
        self,
        lines: Iterable[str | bytes],
        settings: DecodingSettings | None = None,
        *,
        n_best: int = 1,
        scores: bool = True,
        chunk: int = LINES_PER_CHUNK,
        where: str = "standard input",
        model_folders: Sequence[Path] = (),
    ) -> Iterator[TranslatedLines]:
        """Translate raw text, `chunk` lines at a time; see `beam_search` for `n_best` and `scores`.

        A line of more than `raw.MAX_SUBWORDS` subwords is translated in parts, and standard error says so. Raises
        `LineError` for a line that is not UTF-8 or contains a NUL, after the translations of all chunks before it, and
        `UserError` for a text in UTF-16 or UTF-32.
        """
        settings = self.search_settings(settings)
        with self.reader(model_folders) as reader:
            first = 0
            for texts in grouped_texts(clean_lines(lines, where=where), chunk, characters=len):
                examples, line_of_part = reader.examples(texts)
                for line, parts in Counter(line_of_part).items():
                    if parts > 1:
                        number = first + line + 1
                        print(f"{where}, line {number}: very long, translated in {parts} parts.", file=sys.stderr)
                translations = translate_examples(self.model, examples, settings, n_best=n_best, scores=scores)
                yield TranslatedLines(first, len(texts), examples, line_of_part, translations)
                first += len(texts)

    def texts(self, translated: TranslatedLines) -> Iterator[list[ScoredText]]:
        """Yield the texts of the hypotheses of each line, best first; a line without words yields one empty text."""
        for parts in translated.by_line(translated.translations):
            yield self._join_parts(parts) if parts else [ScoredText("", 0.0)]

    def _join_parts(self, parts: list[list[Hypothesis]]) -> list[ScoredText]:
        """Join the i-th best hypotheses of a line's parts, for each i; the score is their sum."""
        join = WordTokenizer(self.run.text_words("target"), self.run.target).join
        return [
            ScoredText(
                text=join([word for hypothesis in ranked for word in self.words(hypothesis.tokens)]),
                score=sum(hypothesis.score for hypothesis in ranked),
            )
            for ranked in zip(*parts, strict=False)
        ]


def save_bundle(
    folder: Path,
    *,
    run: RunSettings,
    model: TranslationModel,
    segmentation: Path,
    labels: LabelVocabularies | None = None,
) -> None:
    """Write a model to `folder`, completely or not at all; an existing folder is replaced.

    `segmentation` is the folder of the vocabularies, codes and truecasing models that the model was trained with.
    """
    folder = Path(folder)
    with _replaced_folder(folder) as partial:
        tensors = {name: tensor.detach().cpu() for name, tensor in named_weights(model)}
        save_tensors(tensors, partial / WEIGHTS)
        write_json(partial / "run.json", run_to_json(run))
        for own, copied in _own_code(run).items():
            shutil.copyfile(own, partial / copied)
        for name in _segmentation_files(run):
            shutil.copyfile(Path(segmentation) / name, partial / name)
        for side, vocabulary in run_vocabularies(run, segmentation, labels or {}).items():
            vocabulary.save(partial / file_name("vocabulary", side=side))
        for side, vocabularies in (labels or {}).items():
            listed = {name: list(entries) for name, entries in vocabularies.items()}
            write_json(partial / file_name("labels", side=side), listed)
        sums = {path.name: _sha256(path) for path in sorted(partial.iterdir())}
        write_json(partial / MANIFEST, {"format": FORMAT, "files": sums})


def load_bundle(
    folder: str | Path, device: str | torch.device = "cpu", *, observers: Sequence[Component] = ()
) -> Bundle:
    """Load a bundle. `observers` are components without parameters, added after the model's own.

    Raises `UserError` if a file is missing or damaged, or if files do not belong together.
    """
    folder = Path(folder)
    files = _checked_files(folder)
    _check_own_code(folder, files)
    run = run_from_json(read_json(folder / "run.json"), where=str(folder / "run.json"))
    if run.words.keys() != set(SIDES):
        raise UserError(f"{folder / 'run.json'}: `words` needs the keys {' and '.join(SIDES)}: fetch the model again.")
    _check_listed(folder, files, _segmentation_files(run))
    vocabularies = {side: Vocabulary.load(folder / file_name("vocabulary", side=side)) for side in SIDES}
    label_files = {side: file_name("labels", side=side) for side in SIDES}
    for side, name in label_files.items():
        if labels_of(run.features.get(side, {})) and name not in files:
            raise _incomplete(folder, name)
    labels = {
        side: read_labels(folder / name, columns=labels_of(run.features.get(side, {})))
        for side, name in label_files.items()
        if name in files
    }
    sizes = {len(vocabulary) for vocabulary in vocabularies.values()}
    if run.segmentation.joint and len(sizes) > 1:
        raise UserError(
            f"The vocabularies of the model in {folder} have {' and '.join(map(str, sorted(sizes)))} entries, but "
            "run.json says that both sides share one: copy the model again, or train it again."
        )
    if missing := missing_tags(run, vocabularies, labels):
        raise UserError(
            f"The vocabulary of the model in {folder} lacks the tag {missing[0]} of its labels, so its files do not "
            "belong together: copy the model again, or train it again."
        )
    _check_size(folder, run, vocabularies, labels)
    with torch.random.fork_rng(devices=[]):
        sizes = {f"{side}_size": len(vocabulary) for side, vocabulary in vocabularies.items()}
        model = build_model(run, **sizes, labels=labels or None, observers=observers)
    _load_weights(model, folder / WEIGHTS)
    truecasers = {
        side: Truecaser.load(folder / file_name("truecaser", side=side)) if run.words[side].truecase else None
        for side in SIDES
    }
    return Bundle(
        run=run,
        model=to_device(model, device).eval(),
        source_vocabulary=vocabularies["source"],
        target_vocabulary=vocabularies["target"],
        source_segmenter=Segmenter.load(folder, run.segmentation, "source"),
        target_segmenter=Segmenter.load(folder, run.segmentation, "target"),
        truecaser=truecasers["source"],
        target_truecaser=truecasers["target"],
        labels=labels,
    )


def _own_code(run: RunSettings) -> dict[Path, str]:
    """Return the files of the user's own code that a run's model consists of, and their names in a bundle."""
    names = dict.fromkeys(map(COMPONENTS.name_of, run.components.values()))
    return {own_path("components", name): f"{_OWN}{name}.py" for name in own_checksums("components", names)}


def _check_own_code(folder: Path, files: Iterable[str]) -> None:
    """Raise `UserError` unless the own components of a bundle are, unchanged, in the working directory's `config`.

    The bundle has copies, which are not run: they may come from somebody else.
    """
    for copied in (name for name in files if name.startswith(_OWN)):
        name = copied.removeprefix(_OWN).removesuffix(".py")
        path, code = own_path("components", name), (folder / copied).read_bytes()
        if path.resolve().is_relative_to(folder.resolve()) or not has_own("components", name):
            raise UserError(
                f"The model in {folder} has a component of its author's own, '{name}', which is not at {path} of the "
                "current folder: start the command in the folder that has it, or read "
                f"{folder / copied} and, if you trust it, copy it there."
            )
        if own_checksum("components", name) != code_checksum(code, where=folder / copied):
            raise UserError(
                f"The model in {folder} was trained with another version of {path}, which is {folder / copied}: use "
                "that version, or train the model again."
            )


def load_initial_weights(
    model: TranslationModel, folder: Path, *, run: RunSettings, segmentation: Path, labels: LabelVocabularies
) -> None:
    """Initialise a model that is to be trained with the weights of a bundle.

    `run` has the settings of the new model, `segmentation` is the folder of its vocabularies, and `labels` are its
    label vocabularies. Raises `UserError` if bases, shapes or vocabularies differ.
    """
    files = _checked_files(folder)
    base = read_json(folder / "run.json").get("base")
    if base != run.base:
        raise UserError(
            f"The model in {folder} has the base {base}, not {run.base}, so its weights do not fit: train it again."
        )
    for side, vocabularies in labels.items():
        name = file_name("labels", side=side)
        if vocabularies and name in files:
            check_same_labels(folder, read_labels(folder / name, tuple(vocabularies)), vocabularies, data=segmentation)
    for side, vocabulary in run_vocabularies(run, segmentation, labels).items():
        if Vocabulary.load(folder / file_name("vocabulary", side=side)) != vocabulary:
            raise UserError(
                f"The model in {folder} was trained with a {side} vocabulary different from that of {segmentation}: "
                "train it again."
            )
    _load_weights(model, folder / WEIGHTS)


def check_same_labels(
    folder: Path, labels: Mapping[str, Sequence[str]], data_labels: Mapping[str, Sequence[str]], *, data: Path
) -> None:
    """Raise `UserError` if a bundle in `folder` has other labels than `data`; both are label vocabularies by column.

    Labels are read by their numbers, so a model would take those of other data for different labels.
    """
    for column, vocabulary in data_labels.items():
        own = labels.get(column, vocabulary)
        if list(own) != list(vocabulary):
            raise UserError(
                f"The model in {folder} was trained with {len(own)} labels of {column}, which are not the "
                f"{len(vocabulary)} of {data}: the annotation has changed since. Train the model again."
            )


def to_device(model: TranslationModel, device: str | torch.device) -> TranslationModel:
    """Move a model to a device. Raises `UserError` if torch does not know the device or cannot use it."""
    device = named_device(device)
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"The device '{device}' cannot be used ({str(error).splitlines()[0]}); try cpu.") from error


def _segmentation_files(run: RunSettings) -> list[str]:
    codes = {codes_name(run.segmentation, side) for side in SIDES} - {None}
    truecasers = {file_name("truecaser", side=side) for side in SIDES if run.words[side].truecase}
    return sorted(codes | truecasers)


def _checked_files(folder: Path) -> set[str]:
    """Compare every file with its checksum; return the names of the files."""
    if not folder.is_dir():
        is_not = "a model is a folder, and this is a file" if folder.exists() else "there is no such folder"
        raise UserError(f"{folder} is not a model: {is_not}.")
    if not (folder / MANIFEST).is_file():
        bundles = sorted(path.parent for inner in ("", "*/") for path in folder.glob(f"{inner}model/{MANIFEST}"))
        if bundles:
            raise UserError(f"{folder} is not a model but contains one: {bundles[0]}.")
        raise _incomplete(folder, MANIFEST)
    listed = read_json(folder / MANIFEST)
    if not isinstance(listed, dict) or listed.get("format") != FORMAT or not isinstance(listed.get("files"), dict):
        raise UserError(
            f"{folder / MANIFEST} is not of format {FORMAT}, so this version of nmtcore cannot read the model. "
            "Train it again, or use the version of nmtcore that wrote it."
        )
    _check_listed(folder, listed["files"], ["run.json", WEIGHTS, *(file_name("vocabulary", side=s) for s in SIDES)])
    for name, expected in listed["files"].items():
        if Path(name).name != name:
            raise UserError(f"{folder / MANIFEST} names the file {quoted(name)} outside of the model: do not use it.")
        with explain_os_errors(folder / name):
            if not (folder / name).is_file():
                raise _incomplete(folder, name)
            if _sha256(folder / name) != expected:
                raise UserError(
                    f"{folder / name} is damaged or was changed: its sha256 differs from {MANIFEST}. Copy the model "
                    "again, or train it again."
                )
    return set(listed["files"])


def _check_listed(folder: Path, listed: Container[str], names: Iterable[str]) -> None:
    """Raise `UserError` if a file of a bundle has no checksum."""
    if unlisted := [name for name in names if name not in listed]:
        raise UserError(
            f"{folder / MANIFEST} has no sha256 of {unlisted[0]}, so nothing shows that the model is whole: copy it "
            "again, or train it again."
        )


def _check_size(
    folder: Path,
    run: RunSettings,
    vocabularies: Mapping[str, Vocabulary],
    labels: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Raise `UserError` if the settings need more parameters than the file of weights has, before memory is taken."""
    sizes = {f"{side}_size": len(vocabulary) for side, vocabulary in vocabularies.items()}
    needed, path = count_parameters(run, **sizes, labels=labels), folder / WEIGHTS
    with _weights_explained(path), safe_open(path, framework="numpy") as file:
        saved = sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118 (no mapping)
    if needed > saved:
        raise UserError(
            f"{path} does not match run.json and the vocabularies in the same folder: it has {saved:,} numbers, and "
            f"they need {needed:,}."
        )


@contextmanager
def _weights_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} cannot be read ({error}): copy the model again, or train it again.") from error


def _incomplete(folder: Path, name: str) -> UserError:
    return UserError(f"The model in {folder} is incomplete: {name} is missing. Copy it again, or train it again.")


def _load_weights(model: TranslationModel, path: Path) -> None:
    with _weights_explained(path):
        saved = load_file(path)
    own = dict(named_weights(model))
    mismatches = sorted(own.keys() ^ saved.keys())
    mismatches += [name for name in own.keys() & saved.keys() if own[name].shape != saved[name].shape]
    if mismatches:
        raise UserError(
            f"{path} does not match run.json and the vocabularies in the same folder: {mismatches[0]} differs."
        )
    others = sorted(name for name, tensor in own.items() if saved[name].dtype != tensor.dtype)
    if others:
        type_ = str(saved[others[0]].dtype).removeprefix("torch.")
        raise UserError(
            f"{path} has weights of the type {type_}, not float32 ({others[0]}): copy the model again, or train it "
            "again."
        )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `folder` if the block succeeds, and is removed otherwise."""
    folder = folder.resolve()
    with atomic_folder(folder) as partial:
        old = partial_of(folder.with_name(f"{folder.name}.old"))
        try:
            yield partial
            if folder.exists():
                os.replace(folder, old)
            os.replace(partial, folder)
        finally:
            shutil.rmtree(old, ignore_errors=True)
