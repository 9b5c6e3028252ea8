"""Trained models in programs and notebooks: `nmtcore.load`, and what the model that it returns can do.

Nothing here changes the process: no number of threads, allocator, warning, signal handler, log or working directory.
Errors that a caller can mend are `nmtcore.UserError`s, whose message is a sentence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from nmtcore.config.project import project_model_folders
from nmtcore.config.registry import working_folder
from nmtcore.config.typed import nearest
from nmtcore.errors import DivergedError, UserError, explain_missing_packages
from nmtcore.files import write_text

if TYPE_CHECKING:
    import numpy as np

    from nmtcore.config.training import DecodingSettings
    from nmtcore.inference.bundle import Bundle
    from nmtcore.inference.scoring import TargetScore
    from nmtcore.inference.text import InputSentence, ScoredText

F = TypeVar("F", bound=Callable)


def _explained(function: F) -> F:
    """Let the errors of a function that a caller can mend end at the call, without a trace of what it calls."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            with explain_missing_packages():
                return function(*arguments, **options)
        except UserError as error:
            raise error.with_traceback(None) from None

    return call


def _of_model(method: F) -> F:
    """Call a method of a model in its `project`, and name the model in the message that it has diverged."""

    @_explained
    @wraps(method)
    def call(self: "Model", *arguments: Any, **options: Any) -> Any:
        try:
            with working_folder(self.project):
                return method(self, *arguments, **options)
        except DivergedError as error:
            raise UserError(f"{self.folder}: {error}") from error

    return call


@_explained
def load(
    folder: Path | str,
    *,
    models: Iterable[Path | str] = (),
    parser: Mapping[str, Any] | None = None,
    project: Path | str = ".",
    device: str = "auto",
) -> "Model":
    """Load a trained model, the folder `model` of a run.

    A model that reads trees needs a parser for new text. Parser models are searched for in the folders `models`, by
    default in those that `config/config.yaml` of the folder `project` names, if it exists. `parser` has the settings of
    another parser than that of the model's data set, such as `{"tool": "spacy", "model": "en_ud"}`. Components and
    annotators of one's own are in `config` of `project`. `device` is "cpu", "cuda", "cuda:1"... or "auto": a GPU if
    there is one. Raises `UserError`.
    """
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.model.device import choose_device

    folder, project, folders = Path(folder), Path(project), tuple(map(Path, models))
    with working_folder(project):
        bundle = load_bundle(folder, choose_device(device), parser=parser)
        if not folders and bundle.run.inference_features["source"]:
            folders = project_model_folders(folder)
    return Model(folder, project, replace(bundle, model_folders=folders))


@dataclass(frozen=True)
class Model:
    """A trained model. Threads must take turns to use it; its parsers start when they are needed, and end with it.

    Sentences are texts without line breaks, and results are in their order. All methods raise `UserError`.
    """

    folder: Path
    project: Path
    bundle: "Bundle" = field(repr=False)
    """Weights, settings and vocabularies, whose form may change from version to version."""

    @_of_model
    def translate(self, sentences: Iterable[str], **search: Any) -> list[str]:
        """Translate sentences.

        `search` changes the settings of the search: `beam`, `length_penalty`, `alpha`, `min_length`, `max_length`,
        `batch_sentences`...
        """
        settings = self.bundle.decoding_settings(**search)
        return [best.text for best, *_ in self._search(sentences, settings, scores=False)]

    @_of_model
    def n_best(self, sentences: Iterable[str], count: int, **search: Any) -> "list[list[ScoredText]]":
        """Return the `count` best translations of each sentence, with a `text` and a `score`, the best first.

        The beam must have as many hypotheses. `search` is that of `translate`.
        """
        settings = self.bundle.decoding_settings(**search)
        return self._search(sentences, settings, n_best=count)

    def _search(
        self, sentences: Iterable[str], settings: "DecodingSettings", **options: Any
    ) -> "list[list[ScoredText]]":
        return list(self.bundle.translate_n_best(_checked(sentences), settings, where="sentences", **options))

    @_of_model
    def score(self, sources: Iterable[str], translations: Iterable[str]) -> "list[TargetScore | None]":
        """Return the `log_probability` (natural) of each translation given its source, and over how many `tokens`.

        None for a source without words.
        """
        from nmtcore.inference.scoring import score_text_pairs

        return list(score_text_pairs(self.bundle, _texts(sources, "sources"), _texts(translations, "translations")))

    @_of_model
    def parse(
        self,
        sentences: Iterable[str],
        *,
        attention: str | None = None,
        roots: Literal["one", "many"] | None = None,
        argmax: bool = False,
    ) -> "list[Tree]":
        """Predict the dependency trees of sentences.

        They come from the head that was trained to parse, or from the head `attention` of the encoder, "LAYER.HEAD"
        from 0. `roots` is the number of roots, by default that of the data set; with `argmax`, each word has its
        likeliest head, which need not give a tree.
        """
        from nmtcore.inference.parse import layer_and_head, make_parser, parse_sentences
        from nmtcore.inference.schemas import TREE_METHODS

        method = "argmax" if argmax else TREE_METHODS[roots or self.bundle.run.evaluation.roots]
        head = None if attention is None else layer_and_head(attention)
        parser = make_parser(self.bundle if head is None else self._observed, method, attention=head)
        parsed = parse_sentences(self.bundle, _texts(sentences), parser)
        return [Tree(words, heads) for _, words, heads in parsed]

    @_of_model
    def attention(self, sentences: Iterable[str]) -> "list[SentenceAttention]":
        """Translate sentences, and return all attention weights of each, none for one without words."""
        from nmtcore.inference.attention import attention_rows
        from nmtcore.inference.search import translate_examples

        read = self.bundle.reader.read(list(_texts(sentences)))
        best = translate_examples(self.bundle.model, read.examples, self.bundle.search_settings(), scores=False)
        tokens = [hypotheses[0].tokens for hypotheses in best]
        rows = chain.from_iterable(attention_rows(self._observed, read.examples, tokens))
        return [SentenceAttention(map(AttentionMap.of, maps)) for maps in read.sources.of_all(rows, [])]

    @cached_property
    def _observed(self) -> "Bundle":
        from nmtcore.inference.attention import observed

        return observed(self.bundle)


def _checked(sentences: Iterable[str]) -> Iterable[str]:
    if isinstance(sentences, str | bytes):
        raise UserError(f"Give a list of sentences, also of a single one: [{sentences!r}].")
    return sentences


def _texts(sentences: Iterable[str], where: str = "sentences") -> "Iterable[InputSentence]":
    from nmtcore.inference.text import read_text

    return read_text(_checked(sentences), where=where)


class Picture:
    """Something that a notebook shows as a drawing."""

    @property
    def svg(self) -> str:
        """The drawing, as SVG."""
        raise NotImplementedError

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> None:
        """Write the drawing to an SVG file."""
        write_text(path, self.svg)


@dataclass(frozen=True)
class Tree(Picture):
    """The predicted dependency tree of a sentence."""

    words: Sequence[str]
    heads: Sequence[int]
    """The head of each word, from 1; 0 for a root."""

    @property
    def svg(self) -> str:
        """The words and an arc from each head to its dependent."""
        from nmtcore.drawing.svg import titled_svg
        from nmtcore.drawing.trees import DrawnTree, tree_drawing

        return titled_svg(" ".join(self.words), [tree_drawing(DrawnTree("", self.words, self.heads))])


@dataclass(frozen=True)
class AttentionMap(Picture):
    """The attention of one head: of every token of `queries` to every token of `keys`."""

    name: str
    """`encoder.LAYER.HEAD` or `cross.LAYER.HEAD` (of the decoder to the source), from 0; or that of a component."""
    queries: Sequence[str]
    keys: Sequence[str]
    weights: "np.ndarray" = field(repr=False)
    """A row per query and a column per key, fp32."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "AttentionMap":
        """Make a map of a row of `ATTENTION_SCHEMA`."""
        parts = (row[key] for key in ("attention", "layer", "head") if row[key] is not None)
        return cls(".".join(map(str, parts)), row["queries"], row["keys"], row["weights"])

    @property
    def svg(self) -> str:
        """A cell per weight: the darker it is, the more its row attends to its column."""
        from nmtcore.drawing.svg import labelled_matrix, shade_legend, titled_svg

        weights = self.weights.tolist()
        drawn = labelled_matrix(weights, rows=self.queries, columns=self.keys, cell=19, size=13)
        return titled_svg(self.name, [drawn, shade_legend()])


class SentenceAttention(dict[str, AttentionMap]):
    """The attention maps of a sentence by their names."""

    def __init__(self, maps: Iterable[AttentionMap]) -> None:
        super().__init__((attention_map.name, attention_map) for attention_map in maps)

    def __missing__(self, name: str) -> AttentionMap:
        raise UserError(f"There is no attention '{name}'. {nearest(name, self)}")
