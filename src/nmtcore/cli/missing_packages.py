"""Python packages that only some commands need, and which an installation without the workflow lacks."""

from nmtcore.errors import UserError

WORKFLOW_PACKAGES = frozenset(
    {
        *("MeCab", "altair", "ipadic", "jinja2", "langdetect", "lxml", "markupsafe", "pandas", "requests", "spacy"),
        *("stanza", "tqdm", "ufal", "urllib3", "vl_convert"),
    }
)
"""Packages that this one imports and that only the extra `workflow` installs, by the names in import statements."""
EXTRAS = {**dict.fromkeys(WORKFLOW_PACKAGES, "workflow"), "ctranslate2": "export"}
"""The extra that installs each package that the core does without."""


def explain_missing_package(error: ModuleNotFoundError) -> UserError:
    """Return an error for the user that says how to install a package; raise any other `error` again, as a bug."""
    name = (error.name or "").split(".")[0]
    if name not in EXTRAS:
        raise error
    return UserError(f"this needs the package {name}, which is not installed: pip install 'nmtcore[{EXTRAS[name]}]'.")
