r"""EasyCCG (Lewis and Steedman 2014) by its jar: the supertags of the best derivation of each sentence.

Its published model, which is handed out to browsers alone, was not run where this was written. Commands and formats
are those of its README and of its source at https://github.com/mikelewis0/easyccg. Tests use a stand-in written after
these; a run of EasyCCG itself, with a small model trained for the purpose, agreed with them.
What it does there, and what is done about it:

- It takes one sentence a line, words between spaces, in the system's encoding (hence `file.encoding`).
- It deletes every ``"``, as CCGbank has no quotation marks: such a word gets the category LQU or RQU in turn, which is
  what CCGbank and the parser call them; other words are analysed without theirs.
- A line that starts with ``#`` is a comment: a space before it prevents that.
- A sentence as long as `maxLength` is left out already, so it gets one more.
- It prints `ID=n` and a derivation, `(<T NP 0 2> (<L NP[nb]/N POS POS the NP[nb]/N>) (<L N POS POS cat N>) ) `, with
  `-LRB-` for a round or curly bracket; where there is none, `(<L NP NN NN fail N>)`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from nmtcore.annotation.base import AnnotationTask
from nmtcore.annotation.java import JavaAnnotator, Portion, Words
from nmtcore.annotation.models import find_model
from nmtcore.config.annotators import EasyCcgSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed

JAR = EasyCcgSettings.model_holds
FAILURE = "(<L NP NN NN fail N>)"

_CUTS = re.compile("[\x00-\x20\ud800-\udfff]")
_LEAF = re.compile(r"\(<L ([^ ]+) [^ ]+ [^ ]+ ([^ ]+) [^ ]+>\)")
_QUOTES = ("LQU", "RQU")
_BRACKETS = {"(": "-LRB-", "{": "-LRB-", ")": "-RRB-", "}": "-RRB-"}


class EasyCcg(JavaAnnotator):
    """It writes a sentence as soon as it is analysed, so a portion is one sentence."""

    name = "EasyCCG"
    portion = 1

    def __init__(self, settings: EasyCcgSettings, model_folders: Sequence[Path]) -> None:
        super().__init__(settings)
        self._model_folders = model_folders

    def __enter__(self) -> Self:
        """Find Java, the jar and its model; without them there is a `UserError`."""
        super().__enter__()
        folder = find_model(self._settings.model, self._model_folders, what="EasyCCG", holds=JAR)
        self._jar, self._model = folder / JAR, find_trained(folder)
        return self

    def refuses(self, words: Words) -> str | None:
        """Refuse what it would cut, and a sentence of quotation marks alone, at which it crashes."""
        for word in words:
            if found := _CUTS.search(word):
                return f"a character at which EasyCCG cuts words: U+{ord(found[0]):04X}"
        return None if any(map(_seen, words)) else "nothing but quotation marks"

    def command(self, portions: Sequence[Portion], folder: Path) -> list[str]:
        """Write all sentences into one file."""
        text = "".join(_line(words) for portion in portions for words in portion)
        (folder / "sentences.txt").write_bytes(text.encode("utf-8"))
        return [
            *("-jar", str(self._jar), "--model", str(self._model), "--inputFile", "sentences.txt"),
            *("--inputFormat", "tokenized", "--outputFormat", "ccgbank", "--nbest", "1"),
            *("--maxLength", str(self._settings.max_words + 1)),
        ]

    def progress(self, folder: Path) -> int:
        """Measure what it has printed."""
        return (folder / "stdout").stat().st_size

    def read(self, portions: Sequence[Portion], folder: Path) -> Iterator[list[Annotation] | str]:
        """Read the derivations, up to the first that is another sentence's."""
        with open(folder / "stdout", encoding="utf-8", errors="replace", newline="\n") as file:
            for number, ((words,), found) in enumerate(zip(portions, _derivations(file), strict=False), start=1):
                if found[0] != f"ID={number}":
                    yield f"EasyCCG gave other sentences: '{found[0][:100]}' for ID={number}"
                    return
                tags = None if found[1] == FAILURE else supertags(found[1], words)
                if isinstance(tags, str):
                    yield tags
                    return
                yield [failed("no CCG parse") if tags is None else Annotation(ccg=tags)]


def _derivations(file: Iterator[str]) -> Iterator[tuple[str, str]]:
    for header in file:
        derivation = next(file, "")
        # A line that it was killed in has no end.
        if derivation.endswith("\n"):
            yield header.rstrip("\n"), derivation.strip(" \n")


def supertags(derivation: str, words: Words) -> list[str] | str:
    """Give the category of each word from a derivation's leaves, or say why that is not one of these words."""
    found = _LEAF.findall(derivation)
    given = [word for word in map(_seen, words) if word]
    if [leaf for _, leaf in found] != [_BRACKETS.get(word, word) for word in given]:
        return (
            f"EasyCCG gave other sentences: '{' '.join(leaf for _, leaf in found)[:100]}' for '{' '.join(given)[:100]}'"
        )
    categories = (category for category, _ in found)
    quotes = 0
    tags = []
    for word in words:
        if _seen(word):
            tags.append(next(categories))
        else:
            tags.append(_QUOTES[quotes % 2])
            quotes += 1
    return tags


def _seen(word: str) -> str:
    """Give what the parser sees of a word."""
    return word.replace('"', "")


def _line(words: Words) -> str:
    line = " ".join(words)
    return f" {line}\n" if line.startswith("#") else f"{line}\n"


def find_trained(folder: Path) -> Path:
    """Find the unpacked model: `folder` itself, its `model`, or else the first folder in it that has `categories`."""
    places = [folder, folder / "model", *sorted(path for path in folder.iterdir() if path.is_dir())]
    found = [place for place in places if (place / "categories").is_file()]
    if not found:
        raise UserError(
            f"{folder} has {JAR} but no model of it, which is a folder with the files categories, classifier, "
            "unaryRules...: unpack one there, as https://github.com/mikelewis0/easyccg says."
        )
    return found[0]


def open_annotator(settings: EasyCcgSettings, task: AnnotationTask) -> EasyCcg:
    """Make the annotator; Java and the model are looked for when it is entered by `with`."""
    return EasyCcg(settings, task.model_folders)
