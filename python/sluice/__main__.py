"""The program: python -m sluice, and the command sluice that pip installs."""
import os
import sys

from . import _native


def main() -> None:
    """Ends the process with the exit code of the program, or of the command mcx, which only the package has."""
    if sys.argv[1:2] == ["mcx"]:
        from . import mcx
        sys.exit(mcx.main(sys.argv[2:]))
    _native.program([b"sluice", *map(os.fsencode, sys.argv[1:])])


if __name__ == "__main__":
    main()
