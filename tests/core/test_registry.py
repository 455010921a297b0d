"""Extensions of real packages, which lie in a folder of the test."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from augenmerk.core.errors import AugenmerkError, MissingExtensionError
from augenmerk.core.registry import Registry, _all_entry_points, installed_entry_points

GROUP = "augenmerk.fruits"


@dataclass(frozen=True)
class Fruit:
    color: str
    order: int = 0


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    _forget_packages()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("fruit_")]:
        del sys.modules[name]
    _forget_packages()


def _forget_packages() -> None:
    installed_entry_points.cache_clear()
    _all_entry_points.cache_clear()


def install(packages: Path, name: str, code: str, entries: str) -> None:
    """A package with one module, `fruit_NAME`, and entry points such as "apple = APPLE"."""
    header = "from tests.core.test_registry import Fruit\n"
    (packages / f"fruit_{name}.py").write_text(header + code, encoding="utf-8")
    info = packages / f"fruit_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: fruit-{name}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [entry.replace("= ", f"= fruit_{name}:") for entry in entries.split("; ")]
    (info / "entry_points.txt").write_text(
        "\n".join([f"[{GROUP}]", *lines]) + "\n", encoding="utf-8"
    )


def make_registry() -> Registry[Fruit]:
    return Registry(GROUP, Fruit, "fruit", {"banana": Fruit("yellow", order=2)})


def test_declarations_of_packages_are_found_and_sorted_by_their_order(packages: Path) -> None:
    install(
        packages,
        "one",
        "APPLE = Fruit('red', 3)\nCHERRY = Fruit('black', 1)",
        "apple = APPLE; cherry = CHERRY",
    )
    assert dict(make_registry()) == {
        "cherry": Fruit("black", 1),
        "banana": Fruit("yellow", 2),
        "apple": Fruit("red", 3),
    }


def test_only_what_is_asked_for_is_imported(packages: Path) -> None:
    install(packages, "one", "APPLE = Fruit('red')", "apple = APPLE")
    install(packages, "two", "PEAR = Fruit('green')", "pear = PEAR")
    assert make_registry()["pear"] == Fruit("green")
    assert "fruit_two" in sys.modules
    assert "fruit_one" not in sys.modules


def test_own_declarations_need_no_look_at_installed_packages(packages: Path) -> None:
    assert make_registry()["banana"] == Fruit("yellow", 2)
    assert not installed_entry_points.cache_info().currsize


def test_packages_are_read_once_for_all_groups(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred packages take 30 ms, which the first picture waits for."""
    install(packages, "one", "APPLE = Fruit('red')", "apple = APPLE; pear = APPLE")
    texts_read = []
    read_text = PathDistribution.read_text

    def noted(distribution: PathDistribution, name: str) -> str | None:
        if "fruit_one" in str(distribution._path):  # type: ignore[attr-defined]
            texts_read.append(name)
        return read_text(distribution, name)

    monkeypatch.setattr(PathDistribution, "read_text", noted)
    for group in (GROUP, "augenmerk.measures", "augenmerk.tabs"):
        installed_entry_points(group)
    assert sorted(texts_read) == ["METADATA", "entry_points.txt"]


@pytest.mark.allow_log_warnings
@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import a_library_that_is_missing", "No module named 'a_library_that_is_missing'"),
        ("raise SystemError('on purpose')", "on purpose"),
        ("PEAR = Fruit('green')", "has no attribute 'APPLE'"),
        ("APPLE = 'red'", "it is no Fruit"),
    ],
)
def test_a_broken_extension_is_reported_by_name_and_left_out(
    packages: Path, code: str, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    install(packages, "one", code, "apple = APPLE")
    registry = make_registry()
    assert list(registry) == ["banana"]
    assert "apple" not in registry
    (record,) = caplog.records
    assert "The extension “apple” of the package fruit-one cannot be used" in record.getMessage()
    assert problem in record.getMessage()


@pytest.mark.allow_log_warnings
def test_the_first_package_wins_a_name_that_two_use(
    packages: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install(packages, "two", "APPLE = Fruit('green')", "apple = APPLE")
    install(
        packages,
        "one",
        "APPLE = Fruit('red')\nBANANA = Fruit('brown')",
        "apple = APPLE; banana = BANANA",
    )
    registry = make_registry()
    assert registry["apple"] == Fruit("red")
    assert registry["banana"] == Fruit("yellow", 2), "what the kernel declares cannot be replaced"
    assert "“apple” of the package fruit-two is left out" in caplog.text


def test_an_unknown_name_is_an_error_that_names_the_extension(packages: Path) -> None:
    registry = make_registry()
    with pytest.raises(MissingExtensionError, match="no fruit “kiwi”") as caught:
        registry["kiwi"]
    assert isinstance(caught.value, AugenmerkError)
    assert "Install the extension" in str(caught.value)
    assert registry.get("kiwi") is None
