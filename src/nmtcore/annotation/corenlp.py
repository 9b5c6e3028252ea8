"""Stanford CoreNLP by its command line: dependencies and tags, or constituents, of words that are cut already.

It has traps, found by giving it every space, control and format character of Unicode: it cuts words and sentences at
`SPLITS`, whatever it is told; it leaves blank lines out; in what it writes, brackets may be -LRB- where there were
round ones, and the other way round; a sentence that it cannot parse is one flat constituent `(X ...)`. So the words
that come back are compared with those it was given.
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

MODELS = "edu/stanford/nlp/models"

SPLITS = re.compile("[\t-\r\x1e\x1f \x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000\ud800-\udfff]")
"""Characters at which CoreNLP 4.5 cuts, in spite of `tokenize.whitespace` and `ssplit.eolonly`; all other spaces,
controls and format characters stay in their word. (Surrogates are no characters, and cannot be written.)"""

_GAPS = re.compile("[ \r\n]+")
_LEAF = re.compile(r" ([^() ]+)\)")


@dataclass(frozen=True, kw_only=True)
class Language:
    """The models of a language, as resources of the jars."""

    dependencies: tuple[str, ...]
    """Options for tagger and dependency parser; none for CoreNLP's own choice."""
    constituents: tuple[str, ...]
    tags: str
    """The column of ours for the tags of its tagger."""


_GERMAN_TAGGER = ("-pos.model", f"{MODELS}/pos-tagger/german-ud.tagger")
LANGUAGES = {
    "en": Language(dependencies=(), constituents=("-parse.model", f"{MODELS}/srparser/englishSR.ser.gz"), tags="xpos"),
    "de": Language(
        dependencies=(*_GERMAN_TAGGER, "-depparse.model", f"{MODELS}/parser/nndep/UD_German.gz"),
        constituents=(*_GERMAN_TAGGER, "-parse.model", f"{MODELS}/lexparser/germanPCFG.ser.gz"),
        tags="upos",
    ),
}


class CoreNlp(JavaAnnotator):
    """One machine reads many small files, so that one sentence at fault costs little."""

    name = "CoreNLP"
    portion = 100

    def __init__(self, settings: CoreNlpSettings, language: Language, model_folders: Sequence[Path]) -> None:
        super().__init__(settings)
        self._language = language
        self._model_folders = model_folders
        self._constituents = settings.analysis == "constituents"
        self._suffix = "json" if self._constituents else "conllu"

    def __enter__(self) -> Self:
        """Find Java and the jars; without them there is a `UserError`."""
        super().__enter__()
        name, holds = self._settings.model, self._settings.model_holds
        self._home = find_model(name, self._model_folders, what="Stanford CoreNLP", holds=holds)
        return self

    def refuses(self, words: Words) -> str | None:
        """Refuse words that it would cut."""
        for word in words:
            if found := SPLITS.search(word):
                return f"a character at which CoreNLP cuts words: U+{ord(found[0]):04X}"
        return None

    def command(self, portions: Sequence[Portion], folder: Path) -> list[str]:
        """Write a file a portion, and the list of them."""
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
            return ["-annotators", "tokenize,ssplit,pos,depparse", *self._language.dependencies]
        longest = str(self._settings.max_words)
        return [
            *("-annotators", "tokenize,ssplit,pos,parse", *self._language.constituents),
            *("-parse.maxlen", longest, "-parse.buildgraphs", "false"),
        ]

    def progress(self, folder: Path) -> int:
        """Count the files that it has begun to write."""
        return len(os.listdir(folder / "out"))

    def read(self, portions: Sequence[Portion], folder: Path) -> Iterator[list[Annotation] | str]:
        """Read a file a portion, up to the first that is not there."""
        for number, portion in enumerate(portions):
            file = folder / "out" / f"{number}.{self._suffix}"
            if not file.exists():
                return
            try:
                text = file.read_bytes().decode("utf-8")
                yield self._constituencies(text, portion) if self._constituents else self._trees(text, portion)
            except _Unsound as unsound:
                yield f"CoreNLP gave other sentences: {unsound}"
            except (ValueError, KeyError, TypeError) as error:
                yield f"CoreNLP wrote what cannot be read: {error}"

    def _trees(self, text: str, portion: Portion) -> list[Annotation]:
        sentences = [block.split("\n") for block in text.split("\n\n") if block]
        _check_count(sentences, portion)
        annotations = []
        for lines, words in zip(sentences, portion, strict=True):
            # ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC; the tag is in XPOS whatever its kind.
            _, forms, _, _, tags, _, heads, labels, _, _ = zip(*(line.split("\t") for line in lines), strict=True)
            _check_words(forms, words)
            made = {self._language.tags: tags}
            annotations.append(Annotation(head=[int(head) for head in heads], deprel=labels, **made))
        return annotations

    def _constituencies(self, text: str, portion: Portion) -> list[Annotation]:
        sentences = json.loads(text)["sentences"]
        _check_count(sentences, portion)
        annotations = []
        for sentence, words in zip(sentences, portion, strict=True):
            tree = _GAPS.sub(" ", sentence["parse"])
            _check_words(_LEAF.findall(tree), words)
            flat = tree.startswith("(X ")
            annotations.append(failed("CoreNLP gave up on its constituents") if flat else Annotation(constituency=tree))
        return annotations


class _Unsound(Exception):
    """What came back is not about the sentences that were given."""


def _check_count(sentences: Sequence[object], portion: Portion) -> None:
    if len(sentences) != len(portion):
        raise _Unsound(f"{len(sentences)} for {len(portion)}")


def _check_words(found: Sequence[str], words: Words) -> None:
    if [_plain(word) for word in found] != [_plain(word) for word in words]:
        raise _Unsound(f"'{' '.join(found)[:100]}' for '{' '.join(words)[:100]}'")


def _plain(word: str) -> str:
    """Escape round brackets as CoreNLP sometimes does, so that words are equal whether it did or not."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def open_annotator(settings: CoreNlpSettings, task: AnnotationTask) -> CoreNlp:
    """Make the annotator of a task; a language other than English or German is a `UserError`."""
    if task.language not in LANGUAGES:
        raise UserError(
            f"CoreNLP is set up for English and German here, and the {task.side} is '{task.language}': "
            "name another annotator for it."
        )
    return CoreNlp(settings, LANGUAGES[task.language], task.model_folders)
