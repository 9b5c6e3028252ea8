"""Settings of the annotators (parsers and taggers).

To add an annotator: its settings here, a line in `ANNOTATORS`, its code in `annotation/{tool}.py`.
"""

import re
from typing import ClassVar, Literal, get_args

from nmtcore.config.ranges import Count, Positive, settings_class
from nmtcore.config.registry import Registry
from nmtcore.errors import quoted

Annotation = Literal["dependencies", "tags", "ccg", "constituency"]
ANNOTATIONS: tuple[Annotation, ...] = get_args(Annotation)
"""Kinds of annotation: heads with labels; UPOS and XPOS; CCG supertags; bracketed constituents."""

MODEL_NAME = r"(?!\.{1,2}$)[A-Za-z0-9._-]+"
"""Pattern of the names of annotators' models, which are never paths."""


def check_model_name(name: str) -> None:
    """Raise a `ValueError` unless `name` is plain: models can run code, so only the user's folders are searched."""
    if not re.fullmatch(MODEL_NAME, name):
        raise ValueError(
            f"a model is a plain name (letters, digits, '.', '_' and '-'), not {quoted(name)}: add its folder to "
            "`models` in config/config.yaml (or give the folder as --models), and use the model's name here"
        )


@settings_class
class AnnotatorSettings:
    """Base of the settings of all annotators."""

    model_holds: ClassVar[str] = ""
    """A glob that matches in the folder of a model; if empty, a model is a single file."""

    gives: ClassVar[tuple[Annotation, ...]] = ("dependencies", "tags")
    """The kinds of annotation that the annotator can give. A property if they depend on the settings."""

    shards: Count = 1
    """Jobs that the training split is divided among; each development and test set is one job."""
    max_words: Count = 250
    """Longest sentence to annotate, in words; longer ones get a null annotation with a reason."""

    def __post_init__(self) -> None:
        for name in self.models:
            check_model_name(name)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of its models: files of `config/models`, or entries of the folders `models` of config.yaml."""
        model = getattr(self, "model", None)
        return () if model is None else (model,)


@settings_class
class ExistingSettings(AnnotatorSettings):
    """The corpus's own trees (CzEng export, CoNLL-U).

    Gives dependencies, tags, ccg and constituency, as far as the corpus has them.
    """

    gives = ANNOTATIONS


@settings_class
class SpacySettings(AnnotatorSettings):
    """A spaCy pipeline with a parser, or with a tagger whose tags are CCG categories.

    Gives dependencies and tags, or ccg with `tags: ccg`.
    """

    model_holds = "meta.json"
    model: str
    """Name of the pipeline: a folder in one of `models` of config.yaml, or an installed spaCy pipeline."""
    batch_size: Count = 128
    """Sentences per batch of the pipeline."""
    tags: Literal["xpos", "ccg"] = "xpos"
    """Content of the pipeline's `tag_`; ccg: it is a supertagger, which needs no parser."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, or supertags."""
        return ("ccg",) if self.tags == "ccg" else ("dependencies", "tags")


@settings_class
class StanzaSettings(AnnotatorSettings):
    """A Stanza pipeline for tokenised text: tags, lemmas, trees, and constituents if it has a model for them.

    Gives dependencies and tags, and constituency with `constituency: true`.
    """

    model_holds = "depparse.pt"
    model: str
    """Name of a folder with {pos,lemma,depparse,constituency...}.pt (`stanza_*` of config/models)."""
    constituency: bool = False
    """Whether constituents are parsed too."""
    batch_size: Count = 64
    """Sentences per batch of the pipeline."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, and constituents if `constituency` is set."""
        return ("dependencies", "tags", *(("constituency",) if self.constituency else ()))


@settings_class
class JavaSettings(AnnotatorSettings):
    """Base of the settings of annotators that are Java programs."""

    memory_mb: Count = 3000
    """Memory of Java, in megabytes."""
    seconds_a_sentence: Positive = 5.0
    """Time limit per sentence: Java is stopped if a batch takes as many times as long, plus a minute."""


@settings_class
class CoreNlpSettings(JavaSettings):
    """Stanford CoreNLP for English and German, by its own server; needs Java.

    Gives dependencies and tags, or constituency with `analysis: constituents`.
    """

    model_holds = "stanford-corenlp-*.jar"
    model: str = "corenlp"
    """Name of a folder with its jars."""
    analysis: Literal["dependencies", "constituents"] = "dependencies"
    """dependencies: trees and tags; constituents: by the shift-reduce parser (English) or the PCFG (German)."""
    batch_size: Count = 100
    """Sentences per request to the server."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, or constituents."""
        return ("dependencies", "tags") if self.analysis == "dependencies" else ("constituency",)


@settings_class
class UdPipeSettings(AnnotatorSettings):
    """UDPipe 1 (`ufal.udpipe`): tagger, lemmatiser and parser in one model file.

    Gives dependencies and tags.
    """

    model: str
    """Name of a .udpipe file or of a folder with one in one of `models` of config.yaml, or a file of config/models."""


@settings_class
class EasyCcgSettings(JavaSettings):
    """EasyCCG (Lewis and Steedman 2014): the supertags of its best derivation; needs Java.

    Gives ccg.
    """

    model_holds = "easyccg.jar"
    gives = ("ccg",)

    model: str = "easyccg"
    """Name of a folder with easyccg.jar and the unpacked model (`easyccg` of config/models)."""
    batch_size: Count = 50_000
    """Sentences per start of Java, which takes long to load the model."""
    max_words: Count = 70


ANNOTATORS = Registry[AnnotatorSettings](
    {
        "existing": (ExistingSettings, "existing.Existing"),
        "spacy": (SpacySettings, "spacy.Spacy"),
        "stanza": (StanzaSettings, "stanza.Stanza"),
        "corenlp": (CoreNlpSettings, "corenlp.CoreNlp"),
        "udpipe": (UdPipeSettings, "udpipe.UdPipe"),
        "easyccg": (EasyCcgSettings, "easyccg.EasyCcg"),
    },
    noun="tool",
    key="tool",
    package="nmtcore.annotation",
    own_folder="annotators",
    base=AnnotatorSettings,
)
