"""Entry point of `python -m nmtcore.cli`, which does the same as `nmtcore`."""

import sys

if not sys.flags.safe_path:
    # `python -m` searches the working directory first, which may hold a folder called torch or a plug-in of spaCy.
    del sys.path[0]

from nmtcore.cli import main

if __name__ == "__main__":
    main()
