"""Names that move."""

from nmtcore.reporting.render import escape_markdown, page_markdown  # noqa: F401
