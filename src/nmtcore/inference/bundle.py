"""Bundles: a trained model as a self-contained folder, which is saved, loaded as a `Bundle`, and translates text.

weights.safetensors   every parameter once, under its first name
run.json              the run's settings: model, components, tokenisation, segmentation, annotators, decoding
{side}.vocab          the run's vocabularies, including the tags of its transforms
codes, {side}.codes   the codes files of the segmentation
own.NAME.py           a copy of each component of the user's own (config/components/NAME.py), for the record
{side}.labels.json    the label vocabularies of the features that components and transforms read
bundle.json           written last: the format's version and the sha256 of every other file
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from nmtcore.annotation.labels import read_labels
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import ANNOTATORS
from nmtcore.config.features import feature_named
from nmtcore.config.registry import has_own, is_same_code, own_checksums, own_path
from nmtcore.config.runs import RunSettings, run_from_json, run_to_json
from nmtcore.config.training import DecodingSettings
from nmtcore.config.typed import build, plain
from nmtcore.errors import UserError, shortened
from nmtcore.features.examples import labels_of
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.files import atomic_folder, file_sha256, read_json, write_json
from nmtcore.inference.search import Hypothesis, translate_examples
from nmtcore.inference.text import LINES_PER_CHUNK, Chunk, ScoredText, TextOutput, TextReader, read_text
from nmtcore.layout import file_name
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import LabelVocabularies
from nmtcore.model.build import build_model
from nmtcore.model.components.base import Component
from nmtcore.model.device import named_device
from nmtcore.segmentation.segmenter import Segmenter, codes_name
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.training.checkpoints import named_weights, save_tensors, set_weights

FORMAT = 3
"""The version of the bundle format."""
WEIGHTS = "weights.safetensors"
"""The file of the weights."""
MANIFEST = "bundle.json"
"""The file that lists all other files."""
VOCABULARIES = {side: file_name("vocabulary", side=side) for side in SIDES}
LABELS = {side: file_name("labels", side=side) for side in SIDES}
_OWN = "own."
"""Prefix of the copies of the user's own components, `own.NAME.py`."""


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A loaded model in evaluation mode, with its settings, vocabularies, segmenters and labels."""

    run: RunSettings
    model: TranslationModel
    vocabularies: Mapping[str, Vocabulary]
    """The vocabularies, as the segmenters, by side."""
    segmenters: Mapping[str, Segmenter]
    labels: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    model_folders: Sequence[Path] = ()
    """The folders with the models of the annotators."""

    @cached_property
    def reader(self) -> TextReader:
        """What makes examples of text."""
        return self.new_reader()

    def new_reader(self, *, from_treebank: bool = False) -> TextReader:
        """Make a `TextReader`."""
        return TextReader(
            self.run,
            self.vocabularies["source"],
            self.segmenters["source"],
            self.transforms,
            labels=self.labels.get("source", {}),
            model_folders=self.model_folders,
            from_treebank=from_treebank,
        )

    @cached_property
    def transforms(self) -> Transforms:
        """The transforms of the run, applied to the model's examples and undone in its output."""
        return Transforms.of(self.run, self.vocabularies, self.labels)

    def search_settings(self, settings: DecodingSettings | None = None) -> DecodingSettings:
        """Return the settings with which to search for outputs; `settings` for text default to the run's."""
        return self.transforms.search_settings(settings or self.run.decoding)

    def decoding_settings(self, **changes: Any) -> DecodingSettings:
        """Return the run's decoding settings with `changes` applied; a value of None changes nothing."""
        changed = {name: value for name, value in changes.items() if value is not None}
        return build(DecodingSettings, plain(self.run.decoding) | changed, where="decoding")

    @cached_property
    def output(self) -> TextOutput:
        """What makes text of hypotheses, detokenised as the data set's settings say."""
        return TextOutput(self.run, self.vocabularies["target"], self.segmenters["target"], self.transforms)

    def translate(self, lines: Iterable[str | bytes], settings: DecodingSettings | None = None) -> Iterator[str]:
        """Translate raw text line by line, in order; see `translate_chunks`."""
        return (translations[0].text for translations in self.translate_n_best(lines, settings, scores=False))

    def translate_n_best(
        self, lines: Iterable[str | bytes], settings: DecodingSettings | None = None, **options: Any
    ) -> Iterator[list[ScoredText]]:
        """Yield the best translations of each line, best first; `translate_chunks` takes the same `options`."""
        for chunk, translations in self.translate_chunks(lines, settings, **options):
            yield from self.texts(chunk, translations)

    def translate_chunks(
        self,
        lines: Iterable[str | bytes],
        settings: DecodingSettings | None = None,
        *,
        n_best: int = 1,
        scores: bool = True,
        chunk: int = LINES_PER_CHUNK,
        where: str = "standard input",
    ) -> Iterator[tuple[Chunk, list[list[Hypothesis]]]]:
        """Translate raw text, `chunk` lines at a time; yield the best hypotheses of each example.

        See `search_batch` for `n_best` and `scores`. Raises `LineError` for a line that is not UTF-8 or contains a NUL,
        after the translations of all lines before it, and `UserError` for a text in UTF-16 or UTF-32.
        """
        settings = self.search_settings(settings)
        for read in self.reader.chunks(read_text(lines, where=where), chunk):
            yield read, translate_examples(self.model, read.examples, settings, n_best=n_best, scores=scores)

    def texts(self, chunk: Chunk, translations: Sequence[Sequence[Hypothesis]]) -> list[list[ScoredText]]:
        """Return the texts of the hypotheses of each line, best first; of a line that is left out, one empty text."""
        texts = ([ScoredText(self.output.text(best.tokens), best.score) for best in ranked] for ranked in translations)
        return chunk.sources.of_all(texts, [ScoredText("", 0.0)])


def save_bundle(
    folder: Path,
    *,
    run: RunSettings,
    model: TranslationModel,
    segmentation: Path,
    labels: LabelVocabularies | None = None,
) -> None:
    """Write a model to `folder`, completely or not at all; an existing folder is replaced.

    `segmentation` is the folder of the vocabularies and codes that the model was trained with.
    """
    folder = Path(folder).resolve()
    own_components = dict.fromkeys(map(COMPONENTS.name_of, run.components.values()))
    with atomic_folder(folder) as partial:
        save_tensors({name: tensor.detach().cpu() for name, tensor in named_weights(model)}, partial / WEIGHTS)
        write_json(partial / "run.json", run_to_json(run))
        for name in own_checksums("components", own_components):
            shutil.copyfile(own_path("components", name), partial / f"{_OWN}{name}.py")
        for name in segmentation_files(run):
            shutil.copyfile(Path(segmentation) / name, partial / name)
        for side, vocabulary in run_vocabularies(run, segmentation, labels or {}).items():
            vocabulary.save(partial / VOCABULARIES[side])
        for side, vocabularies in (labels or {}).items():
            write_json(partial / LABELS[side], {name: list(entries) for name, entries in vocabularies.items()})
        sums = {path.name: file_sha256(path) for path in sorted(partial.iterdir())}
        write_json(partial / MANIFEST, {"format": FORMAT, "files": sums})
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(partial, folder)


def load_bundle(
    folder: str | Path,
    device: str | torch.device = "cpu",
    *,
    parser: Mapping[str, Any] | None = None,
) -> Bundle:
    """Load a bundle.

    `parser` has the settings of an annotator that reads new text in place of those of the run. Raises `UserError` if
    the bundle is not whole, if it was trained with other code of the user's own, or if the parser does not give what
    the model reads.
    """
    folder = Path(folder)
    _check_files(folder)
    _check_own_code(folder)
    run = run_from_json(_read(folder / "run.json", read_json), where=str(folder / "run.json"))
    if parser is not None:
        run = _with_parser(run, parser)
    columns = {side: labels_of(run.features.get(side, {})) for side in SIDES}
    labels = {
        side: _read(folder / LABELS[side], read_labels, columns=names) for side, names in columns.items() if names
    }
    vocabularies = {side: _read(folder / name, Vocabulary.load) for side, name in VOCABULARIES.items()}
    model = new_model(run, vocabularies, labels)
    _load_weights(model, folder)
    return Bundle(
        run=run,
        model=to_device(model, device),
        vocabularies=vocabularies,
        segmenters={side: Segmenter.load(folder, run.segmentation, side) for side in SIDES},
        labels=labels,
    )


def new_model(
    run: RunSettings,
    vocabularies: Mapping[str, Vocabulary],
    labels: LabelVocabularies,
    *,
    seed: int = 0,
    observers: Sequence[Component] = (),
) -> TranslationModel:
    """Build the model of a run, untrained and in evaluation mode; torch's random state stays as it is.

    `observers` are components without parameters, added after the model's own.
    """
    sizes = {f"{side}_size": len(vocabulary) for side, vocabulary in vocabularies.items()}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build_model(run, **sizes, labels=labels or None, observers=observers).eval()


def _with_parser(run: RunSettings, parser: Mapping[str, Any]) -> RunSettings:
    """Let a parser annotate new text in place of the annotators of a run."""
    features = run.inference_features["source"].items()
    features = {name: by for name, by in features if "/" not in name or run.annotators[by]["tool"] == "existing"}
    needed = {feature_named(feature).annotation for feature in features}
    if not needed:
        raise UserError(f"The system {run.system} reads no syntax of the source, so it needs no parser.")
    settings = ANNOTATORS.build(parser, where="parser")
    for annotation in sorted(needed - set(settings.gives)):
        raise UserError(
            f"The system {run.system} reads {annotation} of the source side, which the parser {dict(parser)} does not "
            "give: name another."
        )
    return replace(run, annotators=run.annotators | dict.fromkeys(features.values(), parser))


def load_initial_weights(
    model: TranslationModel, folder: Path, *, run: RunSettings, segmentation: Path, labels: LabelVocabularies
) -> None:
    """Initialise a model that is to be trained with the weights of a bundle.

    `run` has the settings of the new model, `segmentation` is the folder of its vocabularies, and `labels` are its
    label vocabularies. Components that are neutral at first may be new, and are made so; to an imported model, others
    may be added, too, which stay as they are. Raises `UserError` if bases, shapes, vocabularies or labels differ.
    """
    _check_files(folder)
    start = read_json(folder / "run.json")
    differing = [] if start["base"] == run.base else ["another base than this run's"]
    for side, vocabulary in run_vocabularies(run, segmentation, labels).items():
        if Vocabulary.load(folder / VOCABULARIES[side]) != vocabulary:
            differing.append(f"a {side} vocabulary different from that of {segmentation}")
        # Labels are read by their numbers, so a model would take those of other data for different labels.
        saved_labels = read_json(folder / LABELS[side]) if (folder / LABELS[side]).exists() else {}
        for column, entries in labels.get(side, {}).items() if run.reads_labels else ():
            if saved_labels.get(column, entries) != list(entries):
                differing.append(f"other labels of {column} than those of this run's data")
    differing += [f"the component {name}, which this run lacks" for name in start["components"].keys() - run.components]
    for difference in differing:
        raise UserError(f"The model in {folder} was trained with {difference}: train it again.")
    numbers = {name: number for number, name in enumerate(run.components)}
    moved = {number: numbers[name] for number, name in enumerate(start["components"]) if name in numbers}
    new = {
        numbers[name]: settings
        for name, settings in run.components.items()
        if name not in start["components"] and (settings.neutral_at_first or start.get("imported") is not None)
    }
    _load_weights(model, folder, moved=moved, new=new)
    for number, settings in new.items():
        if settings.neutral_at_first:
            model.components[number].make_neutral()


def to_device(model: TranslationModel, device: str | torch.device) -> TranslationModel:
    """Move a model to a device. Raises `UserError` if torch does not know the device or cannot use it."""
    device = named_device(device)
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"The device '{device}' cannot be used ({str(error).splitlines()[0]}); try cpu.") from error


def segmentation_files(run: RunSettings) -> list[str]:
    """Name the files of a run's codes."""
    return sorted({codes_name(run.segmentation, side) for side in SIDES} - {None})


def _broken(folder: Path, reason: str) -> UserError:
    return UserError(f"{folder} is not a whole model ({reason}): copy or train it again.")


def _check_files(folder: Path) -> None:
    """Compare every file with its checksum. Raises `UserError` if one differs, or if there is no bundle."""
    if not (folder / MANIFEST).is_file():
        if bundles := sorted(path.parent for inner in ("", "*/") for path in folder.glob(f"{inner}model/{MANIFEST}")):
            raise UserError(f"{folder} is not a model but contains one: {bundles[0]}.")
        raise _broken(folder, f"{MANIFEST} is missing" if folder.is_dir() else "there is no such folder")
    manifest = read_json(folder / MANIFEST)
    sums = manifest.get("files") if isinstance(manifest, dict) and manifest.get("format") == FORMAT else None
    if not isinstance(sums, dict):
        raise _broken(folder, f"{MANIFEST} is not of format {FORMAT}")
    for name, expected in sums.items():
        if not (folder / name).is_file():
            raise _broken(folder, f"{name} is missing")
        if file_sha256(folder / name) != expected:
            raise _broken(folder, f"the sha256 of {name} differs from that in {MANIFEST}")


def _read(path: Path, read: Callable[..., Any], **options: Any) -> Any:
    """Read a file of a bundle. Raises `UserError` if it does not hold what it should, although its checksum fits."""
    try:
        return read(path, **options)
    except (SafetensorError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = f"{path.name} does not hold what it should: {shortened(str(error))}"
        raise _broken(path.parent, reason) from error


def _check_own_code(folder: Path) -> None:
    """Raise `UserError` unless the own components of a bundle are, unchanged, in the working directory's `config`.

    The bundle has copies, which are not run: they may come from somebody else.
    """
    for copy in folder.glob(f"{_OWN}*.py"):
        name = copy.stem.removeprefix(_OWN)
        path = own_path("components", name)
        is_absent = path.resolve().is_relative_to(folder.resolve()) or not has_own("components", name)
        if is_absent or not is_same_code(path, copy):
            raise UserError(
                f"The model in {folder} has a component of its author's own, '{name}', which is not at {path} of the "
                f"current folder, or there in another version: start the command in the folder that has it, or read "
                f"{copy} and, if you trust it, copy it there."
            )


def _load_weights(
    model: TranslationModel, folder: Path, *, moved: Mapping[int, int] | None = None, new: Iterable[int] = ()
) -> None:
    """Set the weights; `moved` has the numbers here of saved components, and those with a `new` number keep theirs."""

    def renamed(match: re.Match[str]) -> str:
        return f"components.{(moved or {}).get(int(match[1]), match[1])}"

    weights, saved = dict(named_weights(model)), _read(folder / WEIGHTS, load_file)
    saved = {re.sub(r"^components\.(\d+)", renamed, name): tensor for name, tensor in saved.items()}
    kept = tuple(f"components.{number}." for number in new)
    saved = {name: tensor for name, tensor in weights.items() if name.startswith(kept)} | saved
    forms = ({(name, tensor.shape, tensor.dtype) for name, tensor in tensors.items()} for tensors in (weights, saved))
    if differing := sorted(name for name, *_ in set.symmetric_difference(*forms)):
        raise _broken(folder, f"{differing[0]} in {WEIGHTS} does not fit run.json and the vocabularies")
    set_weights(model, saved)
