"""Checks for a display and Qt's system libraries on Linux; names Debian packages that are missing.

PySide6's wheels bring Qt itself, not the libraries of the desktop below it. Standard library only:
the set-up runs this file with the system's Python before anything is installed.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable

OFFSCREEN_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
}
"""Debian packages by shared object, for drawing without a screen."""

WINDOW_LIBRARIES = OFFSCREEN_LIBRARIES | {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
}
"""Debian packages by shared object, for a window on an X11 desktop."""


def can_load(library: str) -> bool:
    """True if the dynamic linker finds the shared object and everything it needs in turn."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing_packages(
    libraries: dict[str, str], loads: Callable[[str], bool] = can_load
) -> list[str]:
    """The Debian packages of those libraries that cannot be loaded, in order, each once.

    Empty outside Linux.
    """
    if not sys.platform.startswith("linux"):
        return []
    return list(
        dict.fromkeys(package for library, package in libraries.items() if not loads(library))
    )


def answers_x11() -> bool:
    """True if the X server of DISPLAY accepts this user, or if that cannot be checked.

    The connection stays open as long as the process: without clients a server may reset itself, and
    reject Qt meanwhile.
    """
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(None, None)  # never NULL
    return not xcb.xcb_connection_has_error(connection)


def install_command(packages: Iterable[str]) -> str:
    """The command for an administrator."""
    return f"sudo apt-get install -y --no-install-recommends {' '.join(packages)}"


def explanation(packages: Iterable[str]) -> str:
    """A message with the number of missing libraries and the command that installs them."""
    packages = list(packages)
    return (
        f"Qt cannot start: this system lacks {len(packages)} of the libraries it needs. On "
        "Debian or Ubuntu, install them with\n"
        "\n"
        f"    {install_command(packages)}\n"
        "\n"
        "and try again. On other systems, install the packages with the same libraries."
    )


def install(packages: list[str]) -> bool:
    """Installs Debian packages if this user needs no password for that.

    Returns whether apt-get succeeded.
    """
    prefix = _privilege()
    if prefix is None or shutil.which("apt-get") is None:
        return False
    print(f"Installing Qt's system libraries: {' '.join(packages)}", flush=True)
    environment = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive"]
    for arguments in (
        ["update", "-q"],
        ["install", "-q", "-y", "--no-install-recommends", *packages],
    ):
        if subprocess.run([*environment, "apt-get", *arguments], check=False).returncode != 0:
            return False
    return True


def _privilege() -> list[str] | None:
    """The prefix of a command to run it as administrator; None if that needs a password."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    allowed = subprocess.run(
        ["sudo", "-n", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return ["sudo", "-n"] if allowed.returncode == 0 else None


def prepare_display(*, picture_only: bool) -> str | None:
    """Checks for a display and Qt's libraries, without which Qt ends the process in silence.

    A picture needs no screen: without one, Qt draws offscreen.

    Returns:
        A message for the user if no window can be opened; else None.
    """
    if not sys.platform.startswith("linux"):
        return None
    has_screen = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if "QT_QPA_PLATFORM" not in os.environ and not has_screen:
        if not picture_only:
            return (
                "There is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set. Run this in a "
                "desktop session, or use the command-line commands: augenmerk --help lists them."
            )
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    on_x11 = os.environ.get("QT_QPA_PLATFORM", "xcb").startswith("xcb") and bool(
        os.environ.get("DISPLAY")
    )
    packages = missing_packages(WINDOW_LIBRARIES if on_x11 else OFFSCREEN_LIBRARIES)
    if packages:
        return explanation(packages)
    may_be_wayland = (
        bool(os.environ.get("WAYLAND_DISPLAY")) and os.environ.get("QT_QPA_PLATFORM") != "xcb"
    )
    # Qt would end the process with a core dump
    if on_x11 and not may_be_wayland and not answers_x11():
        return (
            f"The screen DISPLAY={os.environ['DISPLAY']} does not answer or refuses this user. "
            "Run this in a desktop session, or use the command-line commands: augenmerk --help "
            "lists them."
        )
    return None


def ensure(libraries: dict[str, str]) -> int:
    """Installs missing packages, or prints how. Returns an exit status: 0 if nothing is missing."""
    packages = missing_packages(libraries)
    if packages and install(packages):
        packages = missing_packages(libraries)
    if packages:
        print(explanation(packages), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(ensure(OFFSCREEN_LIBRARIES if sys.argv[1:] == ["offscreen"] else WINDOW_LIBRARIES))
