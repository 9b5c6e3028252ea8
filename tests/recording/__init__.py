"""What `tests/record.py` is made of: calls of the project, an adapter per format, and the parts of a record."""
