"""The corpus stage: download, read, tokenise and filter parallel text."""
