"""Parsers that are Java programs: one virtual machine for thousands of sentences, and what to do when it fails.

A virtual machine takes seconds to start, so it is given a whole batch of sentences, in *portions*: what the tool can be
watched by while it runs (a file, or a line of its output). Whatever goes wrong with a portion - a crash, silence beyond
the time limit, other words than were given - its sentences are done again one by one, and one that fails alone is null;
the rest of the batch goes to another machine. So a bad sentence costs one null and two or three starts.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

from nmtcore.annotation.base import Annotator, NumberedSentence
from nmtcore.config.annotators import CoreNlpSettings, EasyCcgSettings
from nmtcore.errors import UserError, explained
from nmtcore.syntax.annotation import Annotation, failed

Words = Sequence[str]
Portion = Sequence[Words]

START_SECONDS = 60.0
"""What a virtual machine may take to start, load its model, and take in its first sentence."""

HARMLESS = (("Yes", "."),)
"""A portion that every parser can analyse: when it fails as well, the installation is at fault, no sentence."""

OPTIONS = ("-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8")
"""One thread for the collector: several are slower even where the cores are free, and take twice the memory."""

# The shell waits for Java in the foreground while its child reads from a pipe whose other end is ours alone. The pipe
# ends when this process does, however it ends, so a machine never outlives us, nor do its files.
_SUPERVISOR = """
folder=$1; shift
exec 3<&0 </dev/null
(read -r line <&3; rm -rf -- "$folder"; kill -KILL 0) &
"$@" 3<&-
code=$?
kill $! 2>/dev/null
exit $code
"""
_FRAME = re.compile(r"\s+(at |\.\.\. )")
_FAULT = re.compile(r"Exception|Error\b|Caused by")


class JavaAnnotator(Annotator):
    """A Java program that reads a file of sentences, one a line with a space between words, and writes another."""

    name: ClassVar[str]
    """What users call the tool."""
    portion: ClassVar[int]
    """Sentences in a portion."""

    def __init__(self, settings: CoreNlpSettings | EasyCcgSettings) -> None:
        self._settings = settings
        self._java = ""

    def __enter__(self) -> Self:
        """Find Java; without it there is a `UserError`."""
        self._java = find_java(self.name)
        return self

    @abstractmethod
    def command(self, portions: Sequence[Portion], folder: Path) -> list[str]:
        """Write the sentences into `folder`, and give Java's arguments; it runs there, its output goes to `stdout`."""

    @abstractmethod
    def progress(self, folder: Path) -> int:
        """Say how far the tool has come; any number that changes with every portion that it finishes."""

    @abstractmethod
    def read(self, portions: Sequence[Portion], folder: Path) -> Iterator[list[Annotation] | str]:
        """Yield what the tool made of the portions, in order, as far as it came.

        A portion's analyses, or what is wrong with them ("kind of failure: details"); after that the rest may be left
        out, which is then given to the tool again. Where the portions end otherwise, the next one is at fault.
        """

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation a sentence; the tool is started once for `batch_size` of them."""
        sentences = iter(sentences)
        while batch := [sentence.words for sentence in islice(sentences, self._settings.batch_size)]:
            starts = range(0, len(batch), self.portion)
            yield from self._annotate([batch[start : start + self.portion] for start in starts])

    def _annotate(self, portions: list[Portion]) -> Iterator[Annotation]:
        while portions:
            works = False
            done, fault = 0, None
            with tempfile.TemporaryDirectory(prefix="nmtcore-") as name:
                failure = self._run(portions, Path(name))
                for portion, made in zip(portions, self.read(portions, Path(name)), strict=False):
                    done += 1
                    fault = made if isinstance(made, str) else None
                    if fault and not works:
                        self._check_installation(fault)
                    works = True
                    yield from self._again(portion, fault) if fault else made
            if done < len(portions) and not fault:
                fault = failure or f"{self.name} gave no analysis"
                if not works:
                    self._check_installation(fault)
                yield from self._again(portions[done], fault)
                done += 1
            portions = portions[done:]

    def _again(self, portion: Portion, fault: str) -> Iterator[Annotation]:
        if len(portion) == 1:
            return iter([failed(fault)])
        return self._annotate([[words] for words in portion])

    def _run(self, portions: Sequence[Portion], folder: Path) -> str | None:
        with explained(folder):
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
        with tempfile.TemporaryDirectory(prefix="nmtcore-") as name:
            again = self._run([HARMLESS], Path(name))
            made = next(self.read([HARMLESS], Path(name)), None)
        if not isinstance(made, list):
            fault = again or made or fault
            raise UserError(
                f"{self.name} does not work here, not even on '{' '.join(HARMLESS[0])}': {fault}. Look whether its "
                "folder has every file of its model, and whether memory_mb is enough for it and the machine has it."
            )


def find_java(name: str) -> str:
    """Find the `java` command; `name` is who wants it. Not there: `UserError`."""
    java = shutil.which("java")
    if java is None:
        raise UserError(
            f"{name} needs Java, and there is no `java` command here: install a Java runtime "
            "(on Debian or Ubuntu: apt-get install default-jre-headless)."
        )
    return java


def run_java(
    command: Sequence[str], *, folder: Path, name: str, patience: float, progress: Callable[[], int]
) -> str | None:
    """Run a command in `folder`, its output in `folder/stdout` and `stderr`; give what went wrong, or None.

    It is killed with everything that it started when `progress` has given the same for `patience` seconds, and when
    this process ends.
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
    said = _last_words(folder / "stderr") or f"status {process.returncode}"
    killed = process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    return f"{name} was killed (for want of memory?): {said}" if killed else f"{name} crashed: {said}"


def _wait(process: subprocess.Popen, patience: float, progress: Callable[[], int]) -> bool:
    seen, since, pause = progress(), time.monotonic(), 0.01
    while True:
        try:
            process.wait(timeout=pause)
            return True
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, 0.2)
        if (now := progress()) != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > patience:
            return False


def _last_words(stderr: Path) -> str:
    """Give the last exceptions among a Java program's messages, else their last lines, without stack frames."""
    with open(stderr, "rb") as file:
        file.seek(max(0, stderr.stat().st_size - 20_000))
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    told = [line.strip() for line in lines if line.strip() and not _FRAME.match(line)]
    faults = [line for line in told if _FAULT.search(line)]
    return " / ".join((faults or told)[-2:])[:500]
