"""ESPnet's tree of recipes: fetched or taken, and linked into the project."""

import os
import shutil
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import IO

from environment import installed
from progress import SetupError, run_logged

__all__ = ["check_shape", "current_tree", "is_ready", "make"]

ASR = "egs2/TEMPLATE/asr1/asr.sh"
RECIPE = "egs2/ml_superb6/asr1"
LINKED = ("asr.sh", "db.sh", "path.sh", "pyscripts", "scripts", "steps", "utils")


def current_tree(project: Path) -> Path:
    """The tree that egs2/TEMPLATE leads to, whether or not it is there."""
    link = project / "egs2" / "TEMPLATE"
    return (link.parent / link.readlink()).resolve().parent.parent if link.is_symlink() else link


def version_of(tree: Path) -> str | None:
    """ESPnet's version in `tree`, from version.txt; None if it says none."""
    for name in ("version.txt", "espnet/version.txt"):
        try:
            return (tree / name).read_text(encoding="utf-8").strip()
        except OSError:
            continue
    return None


def is_tree(tree: Path, version: str) -> bool:
    """Whether `tree` holds ESPnet's scripts of this version."""
    return (tree / ASR).is_file() and version_of(tree) == version


def check_shape(tree: Path) -> None:
    """Raise SetupError if ESPNET_ROOT is no ESPnet."""
    if not (tree / ASR).is_file():
        raise SetupError(
            f"ESPNET_ROOT={tree} holds no {ASR}; name the root of an ESPnet checkout, "
            "or unset ESPNET_ROOT to have one fetched"
        )


def is_ready(project: Path, version: str, wanted: Path | None) -> bool:
    """Whether the links lead to a tree of this version, and to `wanted` if that is given."""
    tree = current_tree(project)
    return (
        is_tree(tree, version)
        and wanted in (None, tree)
        and (project / "tools" / "extra_path.sh").is_file()
        and all((project / RECIPE / name).exists() for name in LINKED)
        and (project / RECIPE / "utils" / "parse_options.sh").is_file()
    )


def make(project: Path, venv: Path, wanted: Path | None, lock: IO[str]) -> None:
    """Fetch the tree of the installed ESPnet's version if none is named, and link it.

    Raises SetupError for a tree of another version, and when it cannot be fetched.
    """
    version = installed(venv)["espnet"]
    tree = wanted or current_tree(project)
    if wanted is not None:
        check_shape(wanted)
        if (found := version_of(wanted)) != version:
            raise SetupError(
                f"ESPNET_ROOT={wanted} is ESPnet {found}, but the environment has {version}; "
                "check that version out there, or unset ESPNET_ROOT to have it fetched"
            )
    elif not is_tree(tree, version):
        tree = project / "tools" / "espnet"
        if not is_tree(tree, version):
            fetch(project, venv, version, lock)
    link(project, tree)


def fetch(project: Path, venv: Path, version: str, lock: IO[str]) -> None:
    """Unpack ESPnet's source distribution to tools/espnet: its wheel holds no recipes."""
    tools, target = project / "tools", project / "tools" / "espnet"
    for leftover in tools.glob(".fetch-*"):
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=tools))
    pip = [str(venv / "bin" / "python"), "-m", "pip", "download", "--progress-bar", "off"]
    # setuptools of the right version is in the environment; isolation would fetch it once more
    options = ["--no-deps", "--no-build-isolation", "--no-binary", "espnet", "-d", str(work)]
    run_logged("ESPnet", [*pip, *options, f"espnet=={version}"], venv / "setup.log", lock)
    with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
        archive.extractall(work, filter="data")
    unpacked = next(path for path in work.iterdir() if path.is_dir())
    if not is_tree(unpacked, version):
        raise SetupError(f"the source distribution of ESPnet {version} holds no {ASR}")
    if target.exists():
        aside = tools / f"espnet-{version_of(target) or 'unknown'}-{time.time_ns()}"
        target.rename(aside)
        print(f"{target} was not ESPnet {version}; it is now {aside}", file=sys.stderr)
    unpacked.rename(target)
    shutil.rmtree(work)


def link(project: Path, tree: Path) -> None:
    """Lead egs2/TEMPLATE to `tree`, and the recipe's links to it."""
    template = project / "egs2" / "TEMPLATE"
    if template.exists() and not template.is_symlink():
        raise SetupError(f"{template} is no link; move it away, set-up makes a link there")
    near = tree.is_relative_to(project)
    start = Path(os.path.relpath(tree, template.parent)) if near else tree
    set_link(template, start / "egs2" / "TEMPLATE")
    for name in LINKED:
        path = project / RECIPE / name
        if not path.is_dir() or path.is_symlink():
            set_link(path, Path("../../TEMPLATE/asr1") / name)
    # ESPnet's path.sh sources it without asking whether it is there
    (project / "tools" / "extra_path.sh").touch()


def set_link(path: Path, target: Path) -> None:
    """Make `path` a link to `target`; where it is one, nothing changes."""
    if path.is_symlink() and path.readlink() == target:
        return
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(path)
