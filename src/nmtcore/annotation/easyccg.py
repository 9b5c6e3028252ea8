r"""EasyCCG (Lewis and Steedman 2014) through its jar: the supertags of the best derivation of each sentence.

The published model can only be downloaded with a browser, so this module was written without it, after the README and
the source at https://github.com/mikelewis0/easyccg. The tests use a stand-in written after both; a run of EasyCCG
itself, with a small model trained for the purpose, agreed with them. EasyCCG's behaviour, and what this module does:

- It reads one sentence per line, words separated by spaces, in the system's encoding (hence `file.encoding`).
- It deletes every ``"``, as CCGbank has no quotation marks. A word of quotation marks alone gets the category LQU or
  RQU in turn, the names that CCGbank and the parser use; other words are analysed without their quotation marks.
- A line that starts with ``#`` is a comment; a space before the ``#`` prevents that.
- It skips sentences of exactly `maxLength` words, so `maxLength` is one larger than `max_words`.
- It prints `ID=n` and a derivation, `(<T NP 0 2> (<L NP[nb]/N POS POS the NP[nb]/N>) (<L N POS POS cat N>) ) `, with
  `-LRB-` for an opening round or curly bracket; for a sentence without a parse, `(<L NP NN NN fail N>)`.
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
"""The derivation that EasyCCG prints for a sentence without a parse."""

_SPLITS = re.compile("[\x00-\x20\ud800-\udfff]")
_LEAF = re.compile(r"\(<L ([^ ]+) [^ ]+ [^ ]+ ([^ ]+) [^ ]+>\)")
_QUOTES = ("LQU", "RQU")
_BRACKETS = {"(": "-LRB-", "{": "-LRB-", ")": "-RRB-", "}": "-RRB-"}


class EasyCcg(JavaAnnotator):
    """The EasyCCG annotator; EasyCCG writes each sentence as soon as it is analysed, so a portion is one sentence."""

    name = "EasyCCG"
    portion = 1

    def __init__(self, settings: EasyCcgSettings, model_folders: Sequence[Path]) -> None:
        super().__init__(settings)
        self._model_folders = model_folders

    def __enter__(self) -> Self:
        """Find Java, the jar and its model. Raises UserError if one is missing."""
        super().__enter__()
        folder = find_model(self._settings.model, self._model_folders, description="EasyCCG", holds=JAR)
        self._jar, self._model = folder / JAR, find_unpacked_model(folder)
        return self

    def refuses(self, words: Words) -> str | None:
        """Refuse words that EasyCCG would split, and sentences of quotation marks alone, on which it crashes."""
        for word in words:
            if match := _SPLITS.search(word):
                return f"a character at which EasyCCG cuts words: U+{ord(match[0]):04X}"
        return None if any(map(_without_quotes, words)) else "nothing but quotation marks"

    def command(self, portions: Sequence[Portion], folder: Path) -> list[str]:
        """Write all sentences into one file; return Java's arguments."""
        text = "".join(_line(words) for portion in portions for words in portion)
        (folder / "sentences.txt").write_bytes(text.encode("utf-8"))
        return [
            *("-jar", str(self._jar), "--model", str(self._model), "--inputFile", "sentences.txt"),
            *("--inputFormat", "tokenized", "--outputFormat", "ccgbank", "--nbest", "1"),
            *("--maxLength", str(self._settings.max_words + 1)),
        ]

    def progress(self, folder: Path) -> int:
        """Return the bytes of output so far."""
        return (folder / "stdout").stat().st_size

    def read(self, portions: Sequence[Portion], folder: Path) -> Iterator[list[Annotation] | str]:
        """Read the derivations, up to the first of another sentence."""
        with open(folder / "stdout", encoding="utf-8", errors="replace", newline="\n") as file:
            for number, ((words,), output) in enumerate(zip(portions, _derivations(file), strict=False), start=1):
                header, derivation = output
                if header != f"ID={number}":
                    yield f"EasyCCG gave other sentences: '{header[:100]}' for ID={number}"
                    return
                tags = None if derivation == FAILURE else leaf_categories(derivation, words)
                if isinstance(tags, str):
                    yield tags
                    return
                yield [failed("no CCG parse") if tags is None else Annotation(ccg=tags)]


def _derivations(file: Iterator[str]) -> Iterator[tuple[str, str]]:
    for header in file:
        derivation = next(file, "")
        # A line that was being written when EasyCCG was killed has no newline.
        if derivation.endswith("\n"):
            yield header.rstrip("\n"), derivation.strip(" \n")


def leaf_categories(derivation: str, words: Words) -> list[str] | str:
    """Read each word's category from a derivation's leaves; return the reason as a string if the words differ."""
    leaves = _LEAF.findall(derivation)
    parsed = [word for word in map(_without_quotes, words) if word]
    if [leaf for _, leaf in leaves] != [_BRACKETS.get(word, word) for word in parsed]:
        output = " ".join(leaf for _, leaf in leaves)
        return f"EasyCCG gave other sentences: '{output[:100]}' for '{' '.join(parsed)[:100]}'"
    categories = (category for category, _ in leaves)
    quotes = 0
    tags = []
    for word in words:
        if _without_quotes(word):
            tags.append(next(categories))
        else:
            tags.append(_QUOTES[quotes % 2])
            quotes += 1
    return tags


def _without_quotes(word: str) -> str:
    """Delete quotation marks, as EasyCCG does."""
    return word.replace('"', "")


def _line(words: Words) -> str:
    line = " ".join(words)
    return f" {line}\n" if line.startswith("#") else f"{line}\n"


def find_unpacked_model(folder: Path) -> Path:
    """Find the folder with the file `categories`: `folder` itself, its `model`, or the first other folder in it."""
    candidates = [folder, folder / "model", *sorted(path for path in folder.iterdir() if path.is_dir())]
    models = [candidate for candidate in candidates if (candidate / "categories").is_file()]
    if not models:
        raise UserError(
            f"{folder} has {JAR} but no model, which is a folder with the files categories, classifier, "
            "unaryRules...: unpack a model there, as https://github.com/mikelewis0/easyccg says."
        )
    return models[0]


def open_annotator(settings: EasyCcgSettings, task: AnnotationTask) -> EasyCcg:
    """Make the annotator; `with` finds Java and the model."""
    return EasyCcg(settings, task.model_folders)
