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
import subprocess
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from nmtcore.annotation.base import Annotator, NumberedSentence, ParsingError
from nmtcore.annotation.java import START_SECONDS, TEST_SENTENCES, JavaProcess, broken_installation, took_too_long
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed

FAILURE = "(<L NP NN NN fail N>)"
"""The derivation that EasyCCG prints for a sentence without a parse."""

_LEAF = re.compile(r"\(<L ([^ ]+) [^ ]+ [^ ]+ ([^ ]+) [^ ]+>\)")
_QUOTES = ("LQU", "RQU")
_BRACKETS = {"(": "-LRB-", "{": "-LRB-", ")": "-RRB-", "}": "-RRB-"}


class EasyCcg(Annotator):
    """EasyCCG, which starts once per batch, and so once per shard unless this is larger than `batch_size`."""

    name = "EasyCCG"
    splits = re.compile("[\x00-\x20\ud800-\udfff]")

    def load(self) -> None:
        """Find the jar and its model. Raises UserError if one is missing."""
        self._folder = self.find_model()
        self._model = find_unpacked_model(self._folder)

    def refuses(self, words: Sequence[str]) -> str | None:
        """Refuse words that EasyCCG would split, and sentences of quotation marks alone, on which it crashes."""
        only_quotes = not any(map(_without_quotes, words))
        return super().refuses(words) or ("nothing but quotation marks" if only_quotes else None)

    def parse(self, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        """Start EasyCCG for a batch. Raises UserError if it cannot analyse even a test sentence."""
        try:
            return self._run(sentences)
        except ParsingError:
            try:
                self._run(TEST_SENTENCES)
            except ParsingError as error:
                raise broken_installation(self.name, error) from error
            raise

    def _run(self, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        arguments = [
            *("-jar", str(self._folder / self.settings.model_holds), "--model", str(self._model)),
            *("--inputFile", "/dev/stdin", "--inputFormat", "tokenized", "--outputFormat", "ccgbank", "--nbest", "1"),
            *("--maxLength", str(self.settings.max_words + 1)),
        ]
        text = "".join(_line(sentence.words) for sentence in sentences)
        java = JavaProcess(self.name, arguments, memory_mb=self.settings.memory_mb, stdout=subprocess.PIPE)
        seconds = START_SECONDS + self.settings.seconds_a_sentence * len(sentences)
        try:
            output, _ = java.communicate(text.encode("utf-8"), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise took_too_long(self.name, seconds) from None
        finally:
            java.stop()
        if java.returncode != 0:
            raise java.failure()
        lines = output.decode("utf-8", errors="replace").split("\n")
        headers, derivations = lines[:-1:2], lines[1::2]
        self.check_count(derivations, sentences)
        self.check_words(headers, [f"ID={number}" for number in range(1, len(sentences) + 1)])
        results = zip(derivations, sentences, strict=True)
        return [self.read(derivation.strip(" "), sentence.words) for derivation, sentence in results]

    def read(self, derivation: str, words: Sequence[str]) -> Annotation:
        """Read each word's category from a derivation's leaves. Raises ParsingError if the words differ."""
        if derivation == FAILURE:
            return failed("no CCG parse")
        leaves = _LEAF.findall(derivation)
        unquoted = [word for word in map(_without_quotes, words) if word]
        self.check_words([leaf for _, leaf in leaves], [_BRACKETS.get(word, word) for word in unquoted])
        categories, quotes = (category for category, _ in leaves), cycle(_QUOTES)
        return Annotation(ccg=[next(categories if _without_quotes(word) else quotes) for word in words])


def _without_quotes(word: str) -> str:
    """Delete quotation marks, as EasyCCG does."""
    return word.replace('"', "")


def _line(words: Sequence[str]) -> str:
    line = " ".join(words)
    return f" {line}\n" if line.startswith("#") else f"{line}\n"


def find_unpacked_model(folder: Path) -> Path:
    """Find the folder with the file `categories`: `folder` itself, or the first folder in it."""
    models = [*folder.glob("categories"), *sorted(folder.glob("*/categories"))]
    if not models:
        raise UserError(
            f"{folder} has easyccg.jar but no model, which is a folder with the files categories, classifier, "
            "unaryRules...: unpack a model there, as https://github.com/mikelewis0/easyccg says."
        )
    return models[0].parent
