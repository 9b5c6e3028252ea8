"""Errors that are explained to the user in a sentence: the user's mistakes, and failures of the system."""

import errno
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST_QUOTE = 80
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that are not seen, or that cannot be written: controls, formats, surrogates, separators."""


def shortened(text: str) -> str:
    """Return text that comes from a file as a message shows it: at most 80 characters, control characters escaped."""
    shown = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
    return escape_controls(shown.replace("\n", "\\n"))


def quoted(text: str) -> str:
    """Quote text that comes from a file, `shortened`."""
    return f"'{shortened(text)}'"


def joined_by_or(names: Iterable[object]) -> str:
    """Join the names that a message offers: `a, b or c`."""
    *first, last = map(str, names)
    return f"{', '.join(first)} or {last}" if first else last


def escape_controls(text: str) -> str:
    """Escape characters that are not seen and could change what a terminal shows, except for `\\n` and tabs."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode() if is_hidden(character) else character for character in text
    )


def is_hidden(character: str) -> bool:
    """Return whether a character is not seen or cannot be written; `\\n` and tabs are no such characters."""
    return character not in "\n\t" and unicodedata.category(character) in _HIDDEN


class UserError(Exception):
    """An error message for the user: what is wrong, in which file and line or row, and what to do.

    The command line and the workflow's scripts print it without a stack trace. Control characters are escaped.
    """

    def __init__(self, message: object) -> None:
        super().__init__(escape_controls(str(message)))


class LineError(UserError):
    """A user error at one line (counted from 1) of one file."""

    def __init__(self, path: str | Path, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}")
        self.path = str(path)
        self.line = line
        self.problem = problem


class DivergedError(UserError):
    """A user error about a model that computes no numbers, raised where the model's folder is not known."""


_ADVICE = {
    errno.ENOSPC: "The disk that holds {path} is full: free some space and start again.",
    errno.EFBIG: "{path} would exceed the largest file size that is allowed here (see `ulimit -f`).",
    errno.EACCES: "No permission for {path}: make it readable, and its folder writable.",
    errno.EROFS: "{path} is on a read-only file system: choose another folder in config/config.yaml.",
    errno.ENOENT: "{path} does not exist.",
    errno.EEXIST: "{path} exists already, but is not a folder: remove or rename it.",
}
_PARTIAL = re.compile(r"\.([^/]+)~[^/~]*~[^/~]*\.partial(?=/|$)")
"""A temporary name of `nmtcore.files.partial_of`; the first group is the name that the file gets at the end."""
_NOT_OF_PATHS = (ConnectionError, TimeoutError, BlockingIOError, ChildProcessError, ProcessLookupError)
"""Errors of the system that are about processes and connections; a closed pipe is one of them."""


@contextmanager
def explain_os_errors(path: str | Path) -> Iterator[None]:
    """Turn an operating system's error about `path` into a `UserError` that explains it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or isinstance(error, _NOT_OF_PATHS):
            raise
        advice = _ADVICE.get(error.errno, f"{{path}} cannot be used ({error.strerror}).")
        shown = _PARTIAL.sub(r"\1", str(error.filename or path))  # the final names of temporary files and folders
        raise UserError(advice.format(path=shown)) from error


EXTRAS = {"ctranslate2": "export"}
"""The extra that installs a package that not everybody needs; all others are in `workflow`."""


@contextmanager
def explain_missing_packages() -> Iterator[None]:
    """Turn an error about a package that is not installed into a `UserError` that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "nmtcore").partition(".")[0]
        if package == "nmtcore":
            raise
        extra = EXTRAS.get(package, "workflow")
        raise UserError(
            f"this needs the package {package}, which is not installed: pip install 'nmtcore[{extra}]'."
        ) from error
