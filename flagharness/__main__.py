"""``python -m flagharness``."""

import sys

from flagharness.cli import main

if __name__ == "__main__":
    sys.exit(main())
