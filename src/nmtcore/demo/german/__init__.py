"""Realises the abstract syntax in German, with dependencies."""
