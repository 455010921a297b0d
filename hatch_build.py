"""Build hook: an editable install finds `core` and `viz_app` in the package `augenmerk` through
links in `src`.

A wheel maps the two folders into the package instead (`[tool.hatch.build.targets.wheel.sources]` in
pyproject.toml).
"""

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("core", "viz_app")


class LinkHook(BuildHookInterface[Any]):
    """Links the folders of the checkout into `src/augenmerk` when the install is editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds; `version` is "editable" or "standard"."""
        if version == "editable":
            for name in FOLDERS:
                link_folder(Path(self.root), name)


def link_folder(root: Path, name: str) -> None:
    """Makes `src/augenmerk/NAME` a link to `NAME`, in place of a link that leads elsewhere."""
    link = root / "src" / "augenmerk" / name
    if link.is_dir() and link.resolve() == (root / name).resolve():
        return
    if sys.platform == "win32":  # symbolic links need a privilege there; a junction is absolute
        import _winapi

        if os.path.lexists(link):
            link.rmdir()
        _winapi.CreateJunction(str(root / name), str(link))
    else:
        link.unlink(missing_ok=True)
        link.symlink_to(Path("..", "..", name), target_is_directory=True)
