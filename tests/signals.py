"""Default signal handling for processes, as in a terminal."""

import signal

_ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def use_default_signals() -> None:
    """Stop ignoring signals, as `preexec_fn` of a process that receives signals in a test.

    A process inherits the ignored signals of its parent: SIGINT in a shell's background job, SIGHUP
    under `nohup`.
    """
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
