"""Parsers that are Java programs: one virtual machine for thousands of sentences, and recovery from its failures.

A virtual machine takes seconds to start, so it gets a whole batch of sentences. The batch is divided into *portions*,
whose completion shows progress (a file, or a line of output). If a portion fails (a crash, no progress within the time
limit, changed words), its sentences are analysed again one by one, and a sentence that fails alone gets null; a new
machine analyses the rest of the batch. So a bad sentence costs one null and two or three starts.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

from nmtcore.annotation.base import Annotator, NumberedSentence
from nmtcore.config.annotators import CoreNlpSettings, EasyCcgSettings
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import system_temporary, temporary_folder
from nmtcore.syntax.annotation import Annotation, failed

Words = Sequence[str]
Portion = Sequence[Words]

START_SECONDS = 60.0
"""Seconds allowed for starting the virtual machine, loading the model and analysing the first sentence."""

TEST_PORTION = (("Yes", "."),)
"""A portion that every parser can analyse; if it fails too, the installation is broken."""

OPTIONS = ("-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8")
"""One thread for the garbage collector: several are slower even on free cores, and take twice the memory."""

# The shell waits for Java in the foreground. Its child reads from a pipe whose other end only this process holds, so
# the pipe closes when this process ends, for whatever reason; the child then deletes the files and kills Java.
_SUPERVISOR = """
folder=$1; shift
exec 3<&0 </dev/null
(read -r line <&3; rm -rf -- "$folder"; kill -KILL 0) &
"$@" 3<&-
code=$?
kill $! 2>/dev/null
exit $code
"""
_STACK_FRAME = re.compile(r"\s+(at |\.\.\. )")
_EXCEPTION = re.compile(r"Exception|Error\b|Caused by")


class JavaAnnotator(Annotator):
    """A Java program that analyses files of sentences: one sentence per line, words separated by spaces."""

    name: ClassVar[str]
    """The tool's name in messages."""
    portion: ClassVar[int]
    """Sentences per portion."""

    def __init__(self, settings: CoreNlpSettings | EasyCcgSettings) -> None:
        self._settings = settings
        self._java = ""

    def __enter__(self) -> Self:
        """Find Java. Raises UserError if it is missing."""
        self._java = find_java(self.name)
        return self

    @abstractmethod
    def command(self, portions: Sequence[Portion], folder: Path) -> list[str]:
        """Write the sentences into `folder`, where Java runs with its output in `stdout`; return Java's arguments."""

    @abstractmethod
    def progress(self, folder: Path) -> int:
        """Return a number that changes with every portion that the tool finishes."""

    @abstractmethod
    def read(self, portions: Sequence[Portion], folder: Path) -> Iterator[list[Annotation] | str]:
        """Yield the result of each portion, in order, as far as the tool came.

        A result is the portion's analyses, or a description of their fault ("type of failure: details"). An iterator
        that ends after a fault leaves the remaining portions to another run; if it ends early without one, the next
        portion is at fault.
        """

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation per sentence; the tool starts once per `batch_size` sentences."""
        sentences = iter(sentences)
        while batch := [sentence.words for sentence in islice(sentences, self._settings.batch_size)]:
            starts = range(0, len(batch), self.portion)
            yield from self._annotate([batch[start : start + self.portion] for start in starts])

    def _annotate(self, portions: list[Portion]) -> Iterator[Annotation]:
        while portions:
            checked = False
            done, fault = 0, None
            with temporary_folder(system_temporary("nmtcore-java")) as folder:
                failure = self._run(portions, folder)
                for portion, result in zip(portions, self.read(portions, folder), strict=False):
                    done += 1
                    fault = result if isinstance(result, str) else None
                    if fault and not checked:
                        self._check_installation(fault)
                    checked = True
                    yield from self._retry(portion, fault) if fault else result
            if done < len(portions) and not fault:
                fault = failure or f"{self.name} gave no analysis"
                if not checked:
                    self._check_installation(fault)
                yield from self._retry(portions[done], fault)
                done += 1
            portions = portions[done:]

    def _retry(self, portion: Portion, fault: str) -> Iterator[Annotation]:
        """Analyse the sentences of a faulty portion one by one; a single faulty sentence gets null."""
        if len(portion) == 1:
            return iter([failed(fault)])
        return self._annotate([[words] for words in portion])

    def _run(self, portions: Sequence[Portion], folder: Path) -> str | None:
        with explain_os_errors(folder):
            command = self.command(portions, folder)
        patience = START_SECONDS + self._settings.seconds_a_sentence * max(map(len, portions))
        return run_java(
            [self._java, f"-Xmx{self._settings.memory_mb}m", *OPTIONS, *command],
            folder=folder,
            name=self.name,
            patience=patience,
            progress=lambda: self.progress(folder),
        )

    def _check_installation(self, fault: str) -> None:
        with temporary_folder(system_temporary("nmtcore-java")) as folder:
            failure = self._run([TEST_PORTION], folder)
            result = next(self.read([TEST_PORTION], folder), None)
        if not isinstance(result, list):
            fault = failure or result or fault
            raise UserError(
                f"{self.name} fails even on '{' '.join(TEST_PORTION[0])}': {fault}. Check that the folder of its model "
                "is complete, that memory_mb is enough, and that the machine has that much memory."
            )


def find_java(name: str) -> str:
    """Find the `java` command for the tool `name`. Raises UserError if there is none."""
    java = shutil.which("java")
    if java is None:
        raise UserError(
            f"{name} needs Java, but there is no `java` command: install a Java runtime "
            "(on Debian or Ubuntu: apt-get install default-jre-headless)."
        )
    return java


def run_java(
    command: Sequence[str], *, folder: Path, name: str, patience: float, progress: Callable[[], int]
) -> str | None:
    """Run a command in `folder`, with its output in `folder/stdout` and `stderr`; return its failure, or None.

    The command is killed, with all processes that it started, if the value of `progress` has not changed for `patience`
    seconds, and when this process ends.
    """
    with open(folder / "stdout", "wb") as output, open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(
            ["sh", "-c", _SUPERVISOR, "sh", str(folder.absolute()), *command],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
    try:
        ended = _wait(process, patience, progress)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdin.close()
    if not ended:
        return f"{name} took too long: nothing came for {patience:.0f} seconds (see seconds_a_sentence)"
    if process.returncode == 0:
        return None
    message = _last_exceptions(folder / "stderr") or f"status {process.returncode}"
    killed = process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    return f"{name} was killed (for want of memory?): {message}" if killed else f"{name} crashed: {message}"


def _wait(process: subprocess.Popen, patience: float, progress: Callable[[], int]) -> bool:
    """Wait for the process; return False if it makes no progress for `patience` seconds."""
    last, since, pause = progress(), time.monotonic(), 0.01
    while True:
        try:
            process.wait(timeout=pause)
            return True
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, 0.2)
        if (now := progress()) != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > patience:
            return False


def _last_exceptions(stderr: Path) -> str:
    """Extract the last exceptions from a Java program's messages, or else the last lines, without stack frames."""
    with open(stderr, "rb") as file:
        file.seek(max(0, stderr.stat().st_size - 20_000))
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    messages = [line.strip() for line in lines if line.strip() and not _STACK_FRAME.match(line)]
    exceptions = [line for line in messages if _EXCEPTION.search(line)]
    return " / ".join((exceptions or messages)[-2:])[:500]
