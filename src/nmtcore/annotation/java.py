"""Parsers that are Java programs: how they start, fail and end."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from nmtcore.annotation.base import NumberedSentence, ParsingError
from nmtcore.errors import UserError

START_SECONDS = 60.0
"""Seconds allowed for starting the virtual machine and loading the model."""

TEST_SENTENCES = (NumberedSentence(0, ("Yes", ".")),)
"""A sentence that every parser can analyse; if it fails too, the installation is broken."""

OPTIONS = (
    *("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"),
    *("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8"),
)
"""One thread for the garbage collector: several are slower even on free cores, and take twice the memory."""

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_STACK_FRAME = re.compile(r"\s+(at |\.\.\. )")
_EXCEPTION = re.compile(r"Exception|Error\b|Caused by")


def find_java(name: str) -> str:
    """Find the `java` command for the tool `name`. Raises UserError if there is none."""
    java = shutil.which("java")
    if java is None:
        raise UserError(
            f"{name} needs Java, but there is no `java` command: install a Java runtime "
            "(on Debian or Ubuntu: apt-get install default-jre-headless)."
        )
    return java


class JavaProcess(subprocess.Popen):
    """A running Java program, which ends with this process, even if this is killed.

    Linux sends it SIGKILL when the thread that started it ends.
    """

    def __init__(self, name: str, arguments: Sequence[str], *, memory_mb: int, stdout: int | None = None) -> None:
        self._name = name
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115  It has no name, so nothing can be left.
        super().__init__(
            [find_java(name), f"-Xmx{memory_mb}m", *OPTIONS, *arguments],
            stdin=subprocess.PIPE,
            stdout=stdout or subprocess.DEVNULL,
            stderr=self._messages,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )

    def send(self, text: str) -> None:
        """Write all that the program reads from its standard input."""
        with suppress(BrokenPipeError), self.stdin:  # `failure` says why it has ended
            self.stdin.write(text.encode("utf-8"))

    def stop(self) -> None:
        """End the program, with all processes that it started; SIGTERM lets CoreNLP delete its file."""
        for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self.pid, number)
                self.wait(seconds)

    def failure(self) -> ParsingError:
        """Make the error of a program that has ended too early, and say how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(1)
        self.stop()
        self._messages.seek(0)
        lines = self._messages.read().decode("utf-8", errors="replace").splitlines()
        messages = [line.strip() for line in lines if line.strip() and not _STACK_FRAME.match(line)]
        exceptions = [line for line in messages if _EXCEPTION.search(line)]
        message = " / ".join((exceptions or messages)[-2:])[:500] or f"status {self.returncode}"
        how = "was killed (for want of memory?)" if self.returncode == -signal.SIGKILL else "crashed"
        return ParsingError(f"{self._name} {how}: {message}")


def _end_with_parent() -> None:
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def took_too_long(name: str, seconds: float) -> ParsingError:
    """Make the error of a tool that gives no analysis in time."""
    return ParsingError(f"{name} took too long: nothing came for {seconds:.0f} seconds (see seconds_a_sentence)")


def broken_installation(name: str, error: ParsingError) -> UserError:
    """Make the error of a tool that cannot analyse even `TEST_SENTENCES`."""
    return UserError(
        f"{name} fails even on '{' '.join(TEST_SENTENCES[0].words)}': {error}. Check that the folder of its model "
        "is complete, that memory_mb is enough, and that the machine has that much memory."
    )
