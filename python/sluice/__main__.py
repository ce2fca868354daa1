"""The program: python -m sluice, and the command sluice that pip installs."""
import os
import sys


def main() -> None:
    """Becomes the program, which is in this package, with the arguments of this process."""
    os.execv(os.path.join(os.path.dirname(__file__), "bin", "sluice"), ["sluice", *sys.argv[1:]])


if __name__ == "__main__":
    main()
