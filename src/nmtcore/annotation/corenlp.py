"""Stanford CoreNLP through its command line: dependencies and tags, or constituents, of tokenised text.

CoreNLP splits words and sentences at `SPLITS` whatever its options say (tried with every space, control and format
character of Unicode). It drops blank lines, may write round brackets as -LRB- and -LRB- as round brackets, and gives a
sentence that it cannot parse one flat constituent `(X ...)`. So this module compares the words in its output with its
input.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nmtcore.annotation.base import AnnotationTask
from nmtcore.annotation.java import JavaAnnotator, Portion, Words
from nmtcore.annotation.models import find_model
from nmtcore.config.annotators import CoreNlpSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed

RESOURCES = "edu/stanford/nlp/models"

SPLITS = re.compile("[\t-\r\x1e\x1f \x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000\ud800-\udfff]")
"""Characters at which CoreNLP 4.5 splits in spite of `tokenize.whitespace` and `ssplit.eolonly`, and surrogates, which
cannot be encoded. It keeps all other spaces, controls and format characters inside their word."""

_WHITE_SPACE = re.compile("[ \r\n]+")
_LEAF = re.compile(r" ([^() ]+)\)")


@dataclass(frozen=True, kw_only=True)
class LanguageModels:
    """The models of one language, as resources in the jars."""

    dependencies: tuple[str, ...]
    """Options that choose the tagger and the dependency parser; empty for CoreNLP's defaults."""
    constituents: tuple[str, ...]
    """Options that choose the tagger and the constituency parser."""
    tags: str
    """Column of the annotation that takes the tagger's tags."""


_GERMAN_TAGGER = ("-pos.model", f"{RESOURCES}/pos-tagger/german-ud.tagger")
LANGUAGES = {
    "en": LanguageModels(
        dependencies=(), constituents=("-parse.model", f"{RESOURCES}/srparser/englishSR.ser.gz"), tags="xpos"
    ),
    "de": LanguageModels(
        dependencies=(*_GERMAN_TAGGER, "-depparse.model", f"{RESOURCES}/parser/nndep/UD_German.gz"),
        constituents=(*_GERMAN_TAGGER, "-parse.model", f"{RESOURCES}/lexparser/germanPCFG.ser.gz"),
        tags="upos",
    ),
}


class CoreNlp(JavaAnnotator):
    """The CoreNLP annotator: one Java process reads many small files, so that a faulty sentence costs little."""

    name = "CoreNLP"
    portion = 100

    def __init__(self, settings: CoreNlpSettings, models: LanguageModels, model_folders: Sequence[Path]) -> None:
        super().__init__(settings)
        self._models = models
        self._model_folders = model_folders
        self._constituents = settings.analysis == "constituents"
        self._suffix = "json" if self._constituents else "conllu"

    def __enter__(self) -> Self:
        """Find Java and the jars. Raises UserError if either is missing."""
        super().__enter__()
        name, holds = self._settings.model, self._settings.model_holds
        self._home = find_model(name, self._model_folders, description="Stanford CoreNLP", holds=holds)
        return self

    def refuses(self, words: Words) -> str | None:
        """Refuse sentences with a character at which CoreNLP splits words."""
        for word in words:
            if match := SPLITS.search(word):
                return f"a character at which CoreNLP cuts words: U+{ord(match[0]):04X}"
        return None

    def command(self, portions: Sequence[Portion], folder: Path) -> list[str]:
        """Write one file per portion and a list of the files; return Java's arguments."""
        for number, portion in enumerate(portions):
            text = "".join(" ".join(words) + "\n" for words in portion)
            (folder / f"{number}").write_text(text, encoding="utf-8", newline="\n")
        names = [f"{number}\n" for number in range(len(portions))]
        (folder / "list").write_text("".join(names), encoding="utf-8")
        (folder / "out").mkdir()
        return [
            *("-cp", f"{self._home}/*", "edu.stanford.nlp.pipeline.StanfordCoreNLP"),
            *("-encoding", "UTF-8", "-tokenize.whitespace", "true", "-ssplit.eolonly", "true", "-threads", "1"),
            *self._analysis(),
            *("-outputFormat", self._suffix, "-filelist", "list", "-outputDirectory", "out"),
        ]

    def _analysis(self) -> list[str]:
        if not self._constituents:
            return ["-annotators", "tokenize,ssplit,pos,depparse", *self._models.dependencies]
        longest = str(self._settings.max_words)
        return [
            *("-annotators", "tokenize,ssplit,pos,parse", *self._models.constituents),
            *("-parse.maxlen", longest, "-parse.buildgraphs", "false"),
        ]

    def progress(self, folder: Path) -> int:
        """Count the output files that CoreNLP has begun."""
        return len(os.listdir(folder / "out"))

    def read(self, portions: Sequence[Portion], folder: Path) -> Iterator[list[Annotation] | str]:
        """Read one output file per portion, up to the first missing file."""
        for number, portion in enumerate(portions):
            file = folder / "out" / f"{number}.{self._suffix}"
            if not file.exists():
                return
            try:
                text = file.read_bytes().decode("utf-8")
                yield self._constituencies(text, portion) if self._constituents else self._trees(text, portion)
            except _OtherSentences as difference:
                yield f"CoreNLP gave other sentences: {difference}"
            except (ValueError, KeyError, TypeError) as error:
                yield f"CoreNLP wrote what cannot be read: {error}"

    def _trees(self, text: str, portion: Portion) -> list[Annotation]:
        sentences = [block.split("\n") for block in text.split("\n\n") if block]
        _check_count(sentences, portion)
        annotations = []
        for lines, words in zip(sentences, portion, strict=True):
            # ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC; XPOS also holds universal tags.
            _, forms, _, _, tags, _, heads, labels, _, _ = zip(*(line.split("\t") for line in lines), strict=True)
            _check_words(forms, words)
            tag_column = {self._models.tags: tags}
            annotations.append(Annotation(head=[int(head) for head in heads], deprel=labels, **tag_column))
        return annotations

    def _constituencies(self, text: str, portion: Portion) -> list[Annotation]:
        sentences = json.loads(text)["sentences"]
        _check_count(sentences, portion)
        annotations = []
        for sentence, words in zip(sentences, portion, strict=True):
            tree = _WHITE_SPACE.sub(" ", sentence["parse"])
            _check_words(_LEAF.findall(tree), words)
            flat = tree.startswith("(X ")
            annotations.append(failed("CoreNLP gave up on its constituents") if flat else Annotation(constituency=tree))
        return annotations


class _OtherSentences(Exception):
    """The output is not about the input sentences; the message shows both."""


def _check_count(sentences: Sequence[object], portion: Portion) -> None:
    if len(sentences) != len(portion):
        raise _OtherSentences(f"{len(sentences)} for {len(portion)}")


def _check_words(forms: Sequence[str], words: Words) -> None:
    if [_with_escaped_brackets(form) for form in forms] != [_with_escaped_brackets(word) for word in words]:
        raise _OtherSentences(f"'{' '.join(forms)[:100]}' for '{' '.join(words)[:100]}'")


def _with_escaped_brackets(word: str) -> str:
    """Escape round brackets as CoreNLP sometimes does, so that escaped and unescaped words compare equal."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def open_annotator(settings: CoreNlpSettings, task: AnnotationTask) -> CoreNlp:
    """Make the annotator of a task. Raises UserError for languages other than English and German."""
    if task.language not in LANGUAGES:
        raise UserError(
            f"CoreNLP is set up for English and German only, but the {task.side} language is '{task.language}': "
            "name another annotator for this side."
        )
    return CoreNlp(settings, LANGUAGES[task.language], task.model_folders)
