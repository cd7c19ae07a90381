"""``python -m hookspan`` is ``hookspan``."""

import sys

from hookspan.cli import main

if __name__ == "__main__":
    sys.exit(main())
