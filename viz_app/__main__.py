"""`python -m viz_app` is the same as the console script `augenmerk`."""

import sys

from viz_app.launch import main

if __name__ == "__main__":
    sys.exit(main())
