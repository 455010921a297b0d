"""What is installed is what `constraints-dev.txt` says, and `constraints.txt` says the same of the
app."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)


def pins(file: str = "constraints-dev.txt") -> dict[str, str]:
    """Canonical name to version, as pinned."""
    return {
        canonicalize_name(name): version
        for name, version in PIN.findall((REPOSITORY / file).read_text())
    }


def installed_requirements(root: str, extras: tuple[str, ...]) -> dict[str, str]:
    """Canonical name to installed version of everything that `root` with `extras` needs here, all
    the way down."""
    versions: dict[str, str] = {}
    waiting = [(root, extras)]
    seen = set()
    while waiting:
        name, wanted_extras = waiting.pop()
        if (name, wanted_extras) in seen:
            continue
        seen.add((name, wanted_extras))
        requires = [Requirement(line) for line in distribution(name).requires or []]
        for requirement in requires:
            marker = requirement.marker
            if marker is None or any(
                marker.evaluate({"extra": extra}) for extra in ("", *wanted_extras)
            ):
                versions[canonicalize_name(requirement.name)] = distribution(
                    requirement.name
                ).version
                waiting.append((requirement.name, tuple(sorted(requirement.extras))))
    return versions


@pytest.mark.heavy
def test_everything_installed_stands_at_its_pin() -> None:
    try:
        installed = installed_requirements("augenmerk", ("dev",))
    except PackageNotFoundError as error:
        pytest.skip(f"needs the set-up of `make test`: {error}")
    pinned = pins()
    unpinned = {name: version for name, version in installed.items() if name not in pinned}
    assert not unpinned
    astray = {
        name: (version, pinned[name])
        for name, version in installed.items()
        # torch's CPU build is 2.13.0+cpu
        if Version(version).public != Version(pinned[name]).public
    }
    assert not astray


def test_the_app_alone_has_the_same_pins_and_no_development_tools() -> None:
    app, dev = pins("constraints.txt"), pins()
    assert app.items() <= dev.items()
    assert {"torch", "pyside6-essentials", "huggingface-hub", "tensorboard"} <= app.keys()
    assert not app.keys() & {"pytest", "mypy", "ruff", "hatchling"}
    assert {"hatchling", "editables"} <= dev.keys()


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-dev.txt"])
def test_pins_hold_on_every_machine(file: str) -> None:
    text = (REPOSITORY / file).read_text()
    assert "+" not in pins(file)["torch"], "a local version is that of one build"
    assert "://" not in text
    assert not re.search(r"^(-|.*@)", text, re.MULTILINE), "an index, a path or an address"
