"""Errors that are explained to the user in a sentence: the user's mistakes, and failures of the system."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """An error message for the user: what is wrong, in which file and line or row, and what to do.

    The command line and the workflow's scripts print it without a stack trace.
    """


class LineError(UserError):
    """A user error at one line (counted from 1) of one file."""

    def __init__(self, path: str | Path, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}")
        self.path = str(path)
        self.line = line
        self.problem = problem


_ADVICE = {
    errno.ENOSPC: "The disk that holds {path} is full: free some space and start again.",
    errno.EDQUOT: "The disk quota for {path} is used up: free some space and start again.",
    errno.EFBIG: "{path} would exceed the largest file size that is allowed here (see `ulimit -f`).",
    errno.EACCES: "No permission for {path}: make it readable, and its folder writable.",
    errno.EPERM: "The system does not allow this for {path}: check its owner and permissions.",
    errno.EROFS: "{path} is on a read-only file system: choose another folder in config/config.yaml.",
    errno.ENOENT: "{path} does not exist.",
    errno.ENOTDIR: "A part of the path {path} is a file, not a folder: remove it or choose another folder.",
    errno.EEXIST: "{path} exists already, but is not a folder: remove or rename it.",
    errno.EISDIR: "{path} is a folder, but should be a file.",
    errno.EIO: "The disk reported an error at {path}.",
}


@contextmanager
def explain_os_errors(path: str | Path) -> Iterator[None]:
    """Turn an operating system's error about `path` into a `UserError` that explains it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _ADVICE:
            raise
        raise UserError(_ADVICE[error.errno].format(path=error.filename or path)) from error
