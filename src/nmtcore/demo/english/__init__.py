"""Realisation of the abstract syntax in English, with dependencies and CCG categories."""
