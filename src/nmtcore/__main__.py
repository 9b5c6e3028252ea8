"""`python -m nmtcore` is `nmtcore`."""

from nmtcore.cli import main

if __name__ == "__main__":
    main()
