"""`python -m augenmerk` is the same as the console script `augenmerk`."""

import sys

from augenmerk.viz_app.launch import main

if __name__ == "__main__":
    sys.exit(main())
