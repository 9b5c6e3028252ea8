"""Parsers and taggers behind one protocol, and the files of this stage: annotations, label vocabularies, selection."""
