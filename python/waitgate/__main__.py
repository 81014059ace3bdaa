# SPDX-License-Identifier: Apache-2.0
"""`python3 -m waitgate …`: the command line."""
import sys

from ._commands import command


def main() -> int:
    status, out, error = command(*sys.argv[1:])
    sys.stdout.write(out)
    sys.stderr.write(error)
    return status


if __name__ == "__main__":
    sys.exit(main())
