"""Random composition of the abstract syntax of the demo corpus's sentences."""
