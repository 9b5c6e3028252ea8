"""`python -m nmtcore` is `nmtcore`."""

import sys

if not sys.flags.safe_path:
    # `python -m` searches the working directory first, where a folder called torch or a plug-in of spaCy may lie.
    del sys.path[0]

from nmtcore.cli import main

if __name__ == "__main__":
    main()
