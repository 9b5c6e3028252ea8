"""Pure functions on trees, tags and categories."""
