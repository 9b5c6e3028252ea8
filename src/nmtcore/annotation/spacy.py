"""Dependency trees, tags and lemmas by any spaCy pipeline that has a parser; or CCG supertags by one that tags them."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from nmtcore.annotation.base import Annotator, Sentence, Task
from nmtcore.annotation.models import MissingModel, find_model, installing
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
"""Factories of components that give nothing of an annotation, or would cut a line into sentences."""

NOT_TAGS = frozenset(("token.head", "token.lemma", "token.morph", "token.pos"))
"""What components assign that a supertagger can do without."""

BATCHES_IN_A_ZONE = 16
"""Batches between two clearings of the vocabulary; with one, the memory that each frees goes back to the system, and
asking for it again takes a tenth of the time."""


class Spacy(Annotator):
    """A pipeline that is given words, never raw text, and keeps a line one sentence."""

    def __init__(self, settings: SpacySettings, model_folders: Sequence[Path]) -> None:
        self._settings = settings
        self._model_folders = model_folders
        self._nlp: Language | None = None
        self._read = _annotation

    def __enter__(self) -> Self:
        supertags = self._settings.tags == "ccg"
        self._nlp = load_pipeline(self._settings.model, self._model_folders, supertags=supertags)
        self._read = _supertags if supertags else _annotation
        return self

    def __exit__(self, *error: object) -> None:
        self._nlp = None

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Annotation]:
        """Yield one annotation a sentence; one on which the pipeline crashes is null, its neighbours are not."""
        assert self._nlp is not None, "annotate is called inside `with`"
        sentences, size = iter(sentences), self._settings.batch_size
        while some := [sentence.words for sentence in islice(sentences, BATCHES_IN_A_ZONE * size)]:
            # The zone gives strings and lexemes back, or the vocabulary would grow with the corpus.
            with self._nlp.memory_zone():
                annotations = _annotate(self._nlp, some, self._read, batch_size=size)
            yield from annotations


def open_annotator(settings: SpacySettings, task: Task) -> Spacy:
    """Make the annotator; its pipeline is loaded when entered by `with`."""
    return Spacy(settings, task.model_folders)


def load_pipeline(model: str, model_folders: Sequence[Path], *, supertags: bool = False) -> "Language":
    """Load a pipeline by its name in one of `model_folders`, or that of an installed one.

    Only what an annotation needs is left switched on: for `supertags`, what tags need. A model that is not there,
    cannot be loaded, or has no parser (no tagger) is a `UserError`.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        # Shards are the unit of parallel work: several threads in each are slower than one.
        os.environ.setdefault(variable, "1")
    import spacy

    place = _find(model, model_folders)
    try:
        nlp = _load_installed(place) if place == installed_pipeline(model) else spacy.load(place)
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"The spaCy pipeline {place} cannot be loaded: {_first_line(error)}") from error
    needed, what = ("token.tag", "tagger") if supertags else ("token.head", "parser")
    for name in nlp.pipe_names:
        meta = nlp.get_pipe_meta(name)
        idle = supertags and needed not in meta.assigns and not NOT_TAGS.isdisjoint(meta.assigns)
        if meta.factory in NOT_NEEDED or meta.retokenizes or idle:
            nlp.disable_pipe(name)
    if not any(needed in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names):
        raise UserError(
            f"The spaCy pipeline {place} has no {what} (it has: {', '.join(nlp.component_names) or 'nothing'}): "
            f"name one with a {what}."
        )
    return nlp


def _find(model: str, model_folders: Sequence[Path]) -> Path:
    try:
        return find_model(model, model_folders, what="spaCy pipeline", holds=SpacySettings.model_holds)
    except MissingModel as error:
        if package := installed_pipeline(model):
            return package
        raise UserError(f"{error}{installing(model)}") from error


def _load_installed(package: Path) -> "Language":
    """Load an installed pipeline from where it was found: by its name, Python might import another folder's."""
    found = PathFinder.find_spec(package.name, [str(package.parent)])
    sys.modules[package.name] = module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.load()


_Reader = Callable[["Doc", "_Names"], Annotation]


def _annotate(nlp: "Language", sentences: list[Sequence[str]], read: _Reader, *, batch_size: int) -> list[Annotation]:
    names = _Names(nlp.vocab.strings)
    annotations: list[Annotation] = []
    while rest := sentences[len(annotations) :]:
        try:
            for doc in nlp.pipe((_doc(nlp, words) for words in rest), batch_size=batch_size):
                annotations.append(read(doc, names))
        except MemoryError:
            raise
        except Exception:
            # Batches come out whole, so the sentence at fault is in the one that would be next.
            annotations += [
                _annotate_one(nlp, words, read, names) for words in sentences[len(annotations) :][:batch_size]
            ]
    return annotations


def _annotate_one(nlp: "Language", words: Sequence[str], read: _Reader, names: "_Names") -> Annotation:
    try:
        return read(next(nlp.pipe([_doc(nlp, words)])), names)
    except MemoryError:
        raise
    except Exception as error:
        return failed(f"spaCy failed: {type(error).__name__}: {_first_line(error)}")


def _doc(nlp: "Language", words: Sequence[str]) -> "Doc":
    from spacy.tokens import Doc

    # The parser starts a new tree inside a line unless it is told that no word but the first starts a sentence.
    return Doc(nlp.vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))


class _Names(dict[int, str]):
    """The strings behind spaCy's numbers: those of one memory zone, each looked up once."""

    def __init__(self, strings: "StringStore") -> None:
        self._strings = strings

    def __missing__(self, number: int) -> str:
        # An empty string is what CoNLL-U writes as a low line.
        name = self[number] = self._strings[number] or "_"
        return name


def _annotation(doc: "Doc", names: _Names) -> Annotation:
    # Columns of numbers, at once: going from token to token would cost 5 % of the time of the parser.
    offsets, labels, *columns = doc.to_array(["HEAD", "DEP", "LEMMA", "POS", "TAG", "MORPH"]).T.tolist()
    # The head is so many words away, modulo 2 ** 64; a root has itself.
    heads = [(number + offset) % 2**64 if offset else HEAD_OF_ROOT for number, offset in enumerate(offsets, start=1)]
    if (roots := heads.count(HEAD_OF_ROOT)) != 1:
        return failed(f"not one tree: {roots} roots")
    found = [[names[number] for number in column] if any(column) else None for column in columns]
    lemma, upos, xpos, feats = found
    deprel = ["root" if (label := names[number]) == "ROOT" else label for number in labels]
    return Annotation(lemma=lemma, upos=upos, xpos=xpos, feats=feats, head=heads, deprel=deprel)


def _supertags(doc: "Doc", names: _Names) -> Annotation:
    return Annotation(ccg=[names[number] for number in doc.to_array("TAG").tolist()])


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["(no message)"])[0]
