"""One file a corpus format. Each offers

- `rows(inputs, options) -> Iterator[Row]`: cuts the files into rows as cheaply as it can, in order;
- `parse(row, options, purpose) -> (Side, Side)`: understands one row, or raises `BadRow`; a pure function, so that
  rows can be parsed in other processes. `purpose` (`rows.Purpose`) says what it is read for: languages, a treebank.
- `ALIGNED`: whether the rows come from several files, so that reading to the end shows whether they fit together.
"""
