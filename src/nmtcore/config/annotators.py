"""The settings of every annotator (parser or tagger).

To add one: its settings here, a line in `ANNOTATORS`, its code in `annotation/{tool}.py`.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from nmtcore.config.registry import Registry

ANNOTATION_KINDS = ("dependencies", "tags", "ccg", "constituency")
"""What an annotator may give: heads with labels; UPOS and XPOS; CCG supertags; bracketed constituents."""

MODEL_NAME = r"(?!\.{1,2}$)[A-Za-z0-9._-]+"
"""What a parser's model may be called: a name, never a path."""


def check_model_name(name: str) -> None:
    """Raise a `ValueError` at a path: models can run code, so they are looked for in the user's folders alone."""
    if not re.fullmatch(MODEL_NAME, name):
        raise ValueError(
            f"a model is a plain name (letters, digits, '.', '_' and '-'), not {name!r}: add the folder it lies in to "
            "`models` in config/config.yaml (or give it as --models), and name the model itself"
        )


@dataclass(frozen=True, kw_only=True)
class AnnotatorSettings:
    """What all annotators share."""

    model_holds: ClassVar[str] = ""
    """A glob that matches inside the folder of a model; without one, a model is a file (alone in its folder)."""

    shards: int = 1
    """Jobs that share the training split; a development or test set is one job."""
    max_words: int = 250
    """A longer sentence gets a null annotation with a reason."""

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise ValueError("shards must be at least 1")
        for name in self.models:
            check_model_name(name)

    @property
    def gives(self) -> tuple[str, ...]:
        """The kinds of annotation that it can give (of `ANNOTATION_KINDS`)."""
        return ("dependencies", "tags")

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that it reads: of files of `config/models`, or in the folders `models` of config.yaml."""
        model = getattr(self, "model", None)
        return () if model is None else (model,)


@dataclass(frozen=True, kw_only=True)
class ExistingSettings(AnnotatorSettings):
    """The trees that came with the corpus (CzEng export, CoNLL-U, the demo corpus)."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Everything, as far as the corpus has it."""
        return ANNOTATION_KINDS


@dataclass(frozen=True, kw_only=True)
class SpacySettings(AnnotatorSettings):
    """Any spaCy pipeline with a parser, or with a tagger whose tags are CCG categories."""

    model_holds = "meta.json"
    model: str
    """The name of a folder in one of `models` of config.yaml, or of an installed spaCy pipeline."""
    batch_size: int = 128
    tags: Literal["xpos", "ccg"] = "xpos"
    """What the pipeline's `tag_` is: ccg makes it a supertagger, which needs no parser."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, or supertags."""
        return ("ccg",) if self.tags == "ccg" else ("dependencies", "tags")


@dataclass(frozen=True, kw_only=True)
class StanzaSettings(AnnotatorSettings):
    """A Stanza pipeline on words that are cut already: tags, lemmas, trees, and constituents where it has them."""

    model_holds = "depparse.pt"
    model: str
    """The name of a folder with {pos,lemma,depparse,constituency...}.pt (config/models/stanza_*.yaml)."""
    constituency: bool = False
    batch_size: int = 64
    """Sentences that are given to the pipeline at once."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags; constituents where they are asked for."""
        return ("dependencies", "tags", *(("constituency",) if self.constituency else ()))


@dataclass(frozen=True, kw_only=True)
class CoreNlpSettings(AnnotatorSettings):
    """Stanford CoreNLP, by its command line; needs Java. English and German."""

    model_holds = "stanford-corenlp-*.jar"
    model: str = "corenlp"
    """The name of a folder with its jars; `corenlp` may also be named by CORENLP_HOME."""
    analysis: Literal["dependencies", "constituents"] = "dependencies"
    """Constituents: English by the shift-reduce parser, German by the PCFG."""
    memory_mb: int = 3000
    batch_size: int = 50_000
    """Sentences that one run of Java gets, which takes seconds to start; a crash costs the hundred around it."""
    seconds_a_sentence: float = 5.0
    """When a hundred sentences take a hundred times as long (and a minute, to start), it is taken for hanging."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, or constituents."""
        return ("dependencies", "tags") if self.analysis == "dependencies" else ("constituency",)


@dataclass(frozen=True, kw_only=True)
class UdPipeSettings(AnnotatorSettings):
    """UDPipe 1 (`ufal.udpipe`): tagger, lemmatiser and parser of one model file."""

    model: str
    """The name of a .udpipe file, or of a folder with one, in one of `models`; or a model of config/models."""


@dataclass(frozen=True, kw_only=True)
class EasyCcgSettings(AnnotatorSettings):
    """EasyCCG (Lewis and Steedman 2014), by its jar; needs Java. Supertags of its best derivation."""

    model_holds = "easyccg.jar"
    model: str = "easyccg"
    """The name of a folder with easyccg.jar and the unpacked model (config/models/easyccg.yaml)."""
    memory_mb: int = 3000
    batch_size: int = 50_000
    """Sentences that one run of Java gets, which takes long to load its model."""
    seconds_a_sentence: float = 5.0
    """When a sentence takes longer (and a minute, to start), it is taken for hanging."""
    max_words: int = 70

    @property
    def gives(self) -> tuple[str, ...]:
        """Supertags alone."""
        return ("ccg",)


ANNOTATORS = Registry[AnnotatorSettings](
    {
        "existing": ExistingSettings,
        "spacy": SpacySettings,
        "stanza": StanzaSettings,
        "corenlp": CoreNlpSettings,
        "udpipe": UdPipeSettings,
        "easyccg": EasyCcgSettings,
    },
    noun="tool",
    key="tool",
    package="nmtcore.annotation",
)
