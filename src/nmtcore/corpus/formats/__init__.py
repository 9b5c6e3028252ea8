"""Corpus formats, one module each. Every module offers:

- `rows(inputs, options) -> Iterator[Row]`: cuts the files into rows as cheaply as possible, in order;
- `parse(row, options, context) -> (Side, Side)`: parses one row, or raises `BadRow`; a pure function, so that rows can
  be parsed in other processes. `context` (`rows.ReadingContext`) gives the languages and whether it is a treebank;
- of contrastive pairs, `entries(inputs, options) -> Iterator[ContrastEntry]`: what the rows are made of;
- `ALIGNED`: whether the rows come from several files, so that only reading to the end shows whether they are parallel.
"""
