"""Signals as a process gets them that is started in a terminal."""

import signal

_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def use_default_signals() -> None:
    """Stops ignoring signals; as `preexec_fn` of a process that a test will send one.

    A process inherits which signals its parent ignores: SIGINT in a shell's background job, SIGHUP under `nohup`.
    """
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
