"""`python -m core` is the command line without the window, for machines that have neither screen nor Qt."""

import sys


def main() -> int:
    """Runs the command line and returns its exit status."""
    from core.standard_streams import open_standard_streams
    from core.threads import tune_process

    open_standard_streams()
    tune_process()  # before anything imports torch
    from core.cli.main import main as run_command

    return run_command(sys.argv[1:])


if __name__ == "__main__":
    from core.cli.guard import leave

    leave(main())
