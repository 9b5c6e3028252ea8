"""Stanford CoreNLP through its own HTTP server: dependencies and tags, or constituents, of tokenised text.

CoreNLP splits words and sentences at `SPLITS` whatever its options say (tried with every space, control and format
character of Unicode). It drops blank lines, may write round brackets as -LRB- and -LRB- as round brackets, and gives a
sentence that it cannot parse one flat constituent `(X ...)`. So this module compares the words in its output with its
input.

The server listens to other machines too, so it demands a password, which nobody else on this machine sees: Java reads
the server's options from its standard input.
"""

import json
import re
import secrets
import socket
import time
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from urllib.parse import quote

from nmtcore.annotation.base import Annotator, NumberedSentence, ParsingError
from nmtcore.annotation.java import START_SECONDS, TEST_SENTENCES, JavaProcess, broken_installation, took_too_long
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed

SPLITS = re.compile("[\t-\r\x1e\x1f \x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000\ud800-\udfff]")
"""Characters at which CoreNLP 4.5 splits in spite of `tokenize.whitespace` and `ssplit.eolonly`, and surrogates, which
cannot be encoded. It keeps all other spaces, controls and format characters inside their word."""

_MODELS = "edu/stanford/nlp/models"
_GERMAN_TAGGER = {"pos.model": f"{_MODELS}/pos-tagger/german-ud.tagger"}
PROPERTIES = {
    ("en", "dependencies"): {},
    ("de", "dependencies"): {**_GERMAN_TAGGER, "depparse.model": f"{_MODELS}/parser/nndep/UD_German.gz"},
    ("en", "constituents"): {"parse.model": f"{_MODELS}/srparser/englishSR.ser.gz"},
    ("de", "constituents"): {**_GERMAN_TAGGER, "parse.model": f"{_MODELS}/lexparser/germanPCFG.ser.gz"},
}
"""Properties of the pipeline for (language, analysis) that name the models, which are resources in the jars."""
LANGUAGES = {"en": "xpos", "de": "upos"}
"""Language → the column of the annotation that takes the tags of its tagger."""

_HOST = "127.0.0.1"
_WHITE_SPACE = re.compile("[ \r\n]+")
_LEAF = re.compile(r" ([^() ]+)\)")


class CoreNlp(Annotator):
    """A CoreNLP server, which starts again after a crash."""

    name = "CoreNLP"
    splits = SPLITS
    _server: JavaProcess | None = None

    def load(self) -> None:
        """Start the server and load its models. Raises UserError if Java, the jars or a model is missing."""
        language, settings = self.task.language, self.settings
        if language not in LANGUAGES:
            raise UserError(
                f"CoreNLP is set up for English and German only, but the {self.task.side} language is '{language}': "
                "name another annotator for this side."
            )
        self._properties = {
            **{"tokenize.whitespace": "true", "ssplit.eolonly": "true"},
            **{"annotators": "tokenize,ssplit,pos,depparse", "outputFormat": "conllu"},
            **PROPERTIES[language, settings.analysis],
        }
        if settings.analysis == "constituents":
            self._properties |= {"annotators": "tokenize,ssplit,pos,parse", "outputFormat": "json"}
            self._properties |= {"parse.maxlen": str(settings.max_words), "parse.buildgraphs": "false"}
        self._home = self.find_model()
        self._start()

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def parse(self, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        """Send a batch to the server, which is started first if it has stopped."""
        if self._server is None:
            self._start()
        output = self._request(sentences)
        try:
            return self._read(output, sentences)
        except (ValueError, KeyError, TypeError) as error:
            raise ParsingError(f"CoreNLP wrote what cannot be read: {error}") from error

    def _start(self) -> None:
        with socket.create_server((_HOST, 0)) as free:
            self._port = free.getsockname()[1]
        password = secrets.token_hex(16)
        self._authorization = "Basic " + b64encode(f"nmtcore:{password}".encode()).decode()
        arguments = ["-cp", f"{self._home}/*", "@/dev/stdin"]
        self._server = server = JavaProcess(self.name, arguments, memory_mb=self.settings.memory_mb)
        server.send(
            f"edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port {self._port} -server_id {secrets.token_hex(8)} "
            f"-username nmtcore -password {password} -threads 1 -timeout 1000000000 -maxCharLength 0 -quiet true\n"
        )
        end = time.monotonic() + START_SECONDS
        while not _listens(self._port) and server.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        try:
            self.parse(TEST_SENTENCES)
        except ParsingError as error:
            self.close()
            raise broken_installation(self.name, error) from error

    def _request(self, sentences: Sequence[NumberedSentence]) -> str:
        """Return the server's output for one sentence per line. After a crash or the time limit, it is stopped."""
        text = "".join(" ".join(sentence.words) + "\n" for sentence in sentences)
        path = f"/?properties={quote(json.dumps(self._properties))}"
        headers = {"Authorization": self._authorization, "Content-Type": "text/plain;charset=utf-8"}
        seconds = START_SECONDS + self.settings.seconds_a_sentence * len(sentences)
        connection = HTTPConnection(_HOST, self._port, timeout=seconds)
        try:
            connection.request("POST", path, text.encode("utf-8"), headers)
            response = connection.getresponse()
            output = response.read().decode("utf-8", errors="replace")
        except (OSError, HTTPException) as error:
            late = isinstance(error, TimeoutError)
            failure = took_too_long(self.name, seconds) if late else self._server.failure()
            self.close()
            raise failure from None
        finally:
            connection.close()
        if response.status != 200:
            raise ParsingError(f"CoreNLP failed: {_WHITE_SPACE.sub(' ', output)[:500]}")
        return output

    def _read(self, output: str, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        constituents = self.settings.analysis == "constituents"
        blocks = json.loads(output)["sentences"] if constituents else [b for b in output.split("\n\n") if b]
        self.check_count(blocks, sentences)
        read = self._read_constituents if constituents else self._read_tree
        return [read(block, sentence.words) for block, sentence in zip(blocks, sentences, strict=True)]

    def _read_tree(self, block: str, words: Sequence[str]) -> Annotation:
        # ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC; XPOS also holds universal tags.
        rows = [line.split("\t") for line in block.split("\n")]
        _, forms, _, _, tags, _, heads, labels, _, _ = zip(*rows, strict=True)
        self._compare(forms, words)
        tag_column = {LANGUAGES[self.task.language]: tags}
        return Annotation(head=[int(head) for head in heads], deprel=labels, **tag_column)

    def _read_constituents(self, sentence: dict[str, str], words: Sequence[str]) -> Annotation:
        tree = _WHITE_SPACE.sub(" ", sentence["parse"])
        self._compare(_LEAF.findall(tree), words)
        return (
            failed("CoreNLP gave up on its constituents") if tree.startswith("(X ") else Annotation(constituency=tree)
        )

    def _compare(self, forms: Sequence[str], words: Sequence[str]) -> None:
        """Compare words, all with escaped round brackets, as CoreNLP writes them sometimes."""
        sides = ([word.replace("(", "-LRB-").replace(")", "-RRB-") for word in tokens] for tokens in (forms, words))
        self.check_words(*sides)


def _listens(port: int) -> bool:
    with suppress(ConnectionRefusedError), socket.create_connection((_HOST, port)):
        return True
    return False
