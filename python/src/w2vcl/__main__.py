"""The command w2vcl: this process becomes the program."""

import os
import sys

from ._program import binary


def main() -> None:
    path = binary()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
