"""Realisation of the abstract syntax in German, with dependencies."""
