"""Names that move."""

from nmtcore.reporting.render import blocks_html  # noqa: F401
