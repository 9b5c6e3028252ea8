"""Dependency trees, tags and lemmas from any spaCy pipeline with a parser, or CCG supertags from a supertagger."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence, first_line
from nmtcore.annotation.models import MissingModel, find_model, install_advice
from nmtcore.config.annotator_models import installed_pipeline
from nmtcore.config.annotators import SpacySettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed
from nmtcore.syntax.trees import HEAD_OF_ROOT

if TYPE_CHECKING:
    from spacy import Language
    from spacy.strings import StringStore
    from spacy.tokens import Doc

NOT_NEEDED = frozenset(
    (
        *("ner", "beam_ner", "entity_linker", "entity_ruler", "span_ruler", "span_finder", "spancat"),
        *("spancat_singlelabel", "textcat", "textcat_multilabel", "senter", "sentencizer"),
    )
)
"""Factories of components that contribute nothing to an annotation, or would split a line into sentences."""

NO_TAGS = frozenset(("token.head", "token.lemma", "token.morph", "token.pos"))
"""Attributes that a supertagger does not need; a component that assigns one of them, but no tags, is disabled."""

BATCHES_PER_ZONE = 16
"""Batches per memory zone. With one batch per zone, freeing and allocating memory again takes a tenth of the time."""


class Spacy(Annotator):
    """A spaCy pipeline that gets words instead of raw text, and keeps each line one sentence."""

    def __init__(self, settings: SpacySettings, model_folders: Sequence[Path]) -> None:
        self._settings = settings
        self._model_folders = model_folders
        self._nlp: Language | None = None
        self._read_doc = _dependencies

    def __enter__(self) -> Self:
        supertags = self._settings.tags == "ccg"
        self._nlp = load_spacy_pipeline(self._settings.model, self._model_folders, supertags=supertags)
        self._read_doc = _supertags if supertags else _dependencies
        return self

    def __exit__(self, *error: object) -> None:
        self._nlp = None

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation per sentence; only the sentence on which the pipeline crashes is null."""
        assert self._nlp is not None, "annotate is called inside `with`"
        sentences, size = iter(sentences), self._settings.batch_size
        while zone := [sentence.words for sentence in islice(sentences, BATCHES_PER_ZONE * size)]:
            # The memory zone frees strings and lexemes; otherwise the vocabulary would grow with the corpus.
            with self._nlp.memory_zone():
                annotations = _annotate(self._nlp, zone, self._read_doc, batch_size=size)
            yield from annotations


def open_annotator(settings: SpacySettings, task: AnnotationTask) -> Spacy:
    """Make the annotator; `with` loads its pipeline."""
    return Spacy(settings, task.model_folders)


def load_spacy_pipeline(model: str, model_folders: Sequence[Path], *, supertags: bool = False) -> "Language":
    """Load a pipeline by its name, from one of `model_folders` or from the installed pipelines.

    Components that an annotation (with `supertags`: a tag) does not need are disabled. Raises UserError if the model is
    missing, cannot be loaded, or has no parser (with `supertags`: no tagger).
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        # Shards run in parallel, so several threads per shard are slower than one.
        os.environ.setdefault(variable, "1")
    import spacy

    path = _find_pipeline(model, model_folders)
    try:
        nlp = _load_installed(path) if path == installed_pipeline(model) else spacy.load(path)
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"The spaCy pipeline {path} cannot be loaded: {first_line(error)}") from error
    needed, component = ("token.tag", "tagger") if supertags else ("token.head", "parser")
    for name in nlp.pipe_names:
        meta = nlp.get_pipe_meta(name)
        superfluous = supertags and needed not in meta.assigns and not NO_TAGS.isdisjoint(meta.assigns)
        if meta.factory in NOT_NEEDED or meta.retokenizes or superfluous:
            nlp.disable_pipe(name)
    if not any(needed in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names):
        raise UserError(
            f"The spaCy pipeline {path} has no {component} (only {', '.join(nlp.component_names) or 'nothing'}): "
            f"name a pipeline with a {component}."
        )
    return nlp


def _find_pipeline(model: str, model_folders: Sequence[Path]) -> Path:
    try:
        return find_model(model, model_folders, description="spaCy pipeline", holds=SpacySettings.model_holds)
    except MissingModel as error:
        if package := installed_pipeline(model):
            return package
        raise UserError(f"{error}{install_advice(model)}") from error


def _load_installed(package: Path) -> "Language":
    """Load an installed pipeline by its path; by its name, Python might import a package from another folder."""
    spec = PathFinder.find_spec(package.name, [str(package.parent)])
    sys.modules[package.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load()


_DocReader = Callable[["Doc", "_Names"], Annotation]


def _annotate(
    nlp: "Language", sentences: list[Sequence[str]], read_doc: _DocReader, *, batch_size: int
) -> list[Annotation]:
    names = _Names(nlp.vocab.strings)
    annotations: list[Annotation] = []
    while rest := sentences[len(annotations) :]:
        try:
            for doc in nlp.pipe((_doc(nlp, words) for words in rest), batch_size=batch_size):
                annotations.append(read_doc(doc, names))
        except MemoryError:
            raise
        except Exception:
            # The pipeline yields whole batches, so the faulty sentence is in the next batch.
            annotations += [
                _annotate_sentence(nlp, words, read_doc, names) for words in sentences[len(annotations) :][:batch_size]
            ]
    return annotations


def _annotate_sentence(nlp: "Language", words: Sequence[str], read_doc: _DocReader, names: "_Names") -> Annotation:
    try:
        return read_doc(next(nlp.pipe([_doc(nlp, words)])), names)
    except MemoryError:
        raise
    except Exception as error:
        return failed(f"spaCy failed: {type(error).__name__}: {first_line(error)}")


def _doc(nlp: "Language", words: Sequence[str]) -> "Doc":
    from spacy.tokens import Doc

    # Without `sent_starts` the parser may start a new tree in the middle of a line.
    return Doc(nlp.vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))


class _Names(dict[int, str]):
    """The strings of spaCy's numbers, looked up once per memory zone."""

    def __init__(self, strings: "StringStore") -> None:
        self._strings = strings

    def __missing__(self, number: int) -> str:
        # CoNLL-U writes an empty string as an underscore.
        name = self[number] = self._strings[number] or "_"
        return name


def _dependencies(doc: "Doc", names: _Names) -> Annotation:
    # Reading whole columns saves 5 % of the parser's time over reading token by token.
    offsets, labels, *columns = doc.to_array(["HEAD", "DEP", "LEMMA", "POS", "TAG", "MORPH"]).T.tolist()
    # HEAD is the distance to the head, modulo 2 ** 64; 0 for a root.
    heads = [(number + offset) % 2**64 if offset else HEAD_OF_ROOT for number, offset in enumerate(offsets, start=1)]
    if (roots := heads.count(HEAD_OF_ROOT)) != 1:
        return failed(f"not one tree: {roots} roots")
    lemma, upos, xpos, feats = ([names[number] for number in column] if any(column) else None for column in columns)
    deprel = ["root" if (label := names[number]) == "ROOT" else label for number in labels]
    return Annotation(lemma=lemma, upos=upos, xpos=xpos, feats=feats, head=heads, deprel=deprel)


def _supertags(doc: "Doc", names: _Names) -> Annotation:
    return Annotation(ccg=[names[number] for number in doc.to_array("TAG").tolist()])
