"""``python -m flagharness``, and the console script."""

import os
import sys

from flagharness.cli import main


def run() -> None:
    """Run the command line and leave; after an interrupt without waiting for threads that may hang."""
    status = main()
    if status == 130:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    run()
