"""Names that move."""

from nmtcore.reporting.render import column_parts  # noqa: F401
