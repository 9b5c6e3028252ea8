"""Dependency trees, tags and lemmas from any spaCy pipeline with a parser, or CCG supertags from a supertagger."""

import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.annotation.base import Annotator, NumberedSentence, environment, first_line, token_columns
from nmtcore.annotation.models import MissingModel, install_advice, installed_pipeline
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed
from nmtcore.syntax.trees import HEAD_OF_ROOT

if TYPE_CHECKING:
    from spacy import Language
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


COLUMNS = {"lemma": "lemma_", "upos": "pos_", "xpos": "tag_", "feats": "morph"}
"""Column of the annotation → attribute of spaCy's tokens."""
CCG = {"ccg": "tag_"}


class Spacy(Annotator):
    """A spaCy pipeline that gets words instead of raw text, and keeps each line one sentence."""

    name = "spaCy"

    def load(self) -> None:
        """Load the pipeline from one of the model folders or from the installed pipelines.

        Components that an annotation (with `tags: ccg`: a tag) does not need are disabled. Raises UserError if the
        model is missing, cannot be loaded, or has no parser (with `tags: ccg`: no tagger).
        """
        # Shards run in parallel, so several threads per shard are slower than one.
        with environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1"):
            import spacy
        path, supertags = self._find_pipeline(), self.settings.tags == "ccg"
        try:
            installed = path == installed_pipeline(self.settings.model)
            self._model = nlp = _load_installed(path) if installed else spacy.load(path)
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

    def parse(self, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        """Run the pipeline on a batch."""
        tags = self.settings.tags
        # The memory zone frees strings and lexemes; otherwise the vocabulary would grow with the corpus.
        with self._model.memory_zone():
            docs = [_doc(self._model, sentence.words) for sentence in sentences]
            parsed = self._model.pipe(docs, batch_size=len(docs))
            return [_dependencies(doc) if tags == "xpos" else Annotation(**token_columns(doc, CCG)) for doc in parsed]

    def _find_pipeline(self) -> Path:
        model = self.settings.model
        try:
            return self.find_model()
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


def _doc(nlp: "Language", words: Sequence[str]) -> "Doc":
    from spacy.tokens import Doc

    # Without `sent_starts` the parser may start a new tree in the middle of a line.
    return Doc(nlp.vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))


def _dependencies(doc: "Doc") -> Annotation:
    heads = [HEAD_OF_ROOT if token.head == token else token.head.i + 1 for token in doc]
    if (roots := heads.count(HEAD_OF_ROOT)) != 1:
        return failed(f"not one tree: {roots} roots")
    given = {column: attribute for column, attribute in COLUMNS.items() if doc.has_annotation(attribute.strip("_"))}
    deprel = ["root" if token.dep_ == "ROOT" else token.dep_ or "_" for token in doc]
    return Annotation(**token_columns(doc, given), head=heads, deprel=deprel)
