"""The virtual environment: made, filled, checked and repaired.

A stamp file beside the packages says that they were installed whole for this setup.py, these
constraints and this Python, and lists what must still be there.
"""

import csv
import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import IO

from progress import SetupError, run_logged

__all__ = [
    "broken",
    "check_python_fits",
    "installed",
    "is_ready",
    "make",
    "python_version",
    "requirements",
]

EXTRAS = ("demo", "dev")
MARKER = "made-by-setup"  # a folder with this file may be emptied and made again
KEPT = {MARKER, "setup.lock", "setup.log"}

# In an environment of several checkouts none is installed: `ctcrep` runs the code of the one that
# is on PYTHONPATH, where local/path.sh puts it.
SHARED_CTCREP = """\
#!{python}
import sys

try:
    from espnet_ctcrep.cli import main
except ModuleNotFoundError as e:
    if e.name != "espnet_ctcrep":
        raise
    sys.exit("error: this environment is shared; set PYTHONPATH to the checkout to run")
sys.exit(main())
"""


def python_version(venv: Path) -> str | None:
    """The environment's Python, as 3.12.1, from its pyvenv.cfg; None if there is none."""
    try:
        config = (venv / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^version(?:_info)?\s*=\s*(\d+\.\d+\.\d+)", config, re.MULTILINE)
    return found.group(1) if found else None


def check_python_fits(venv: Path) -> None:
    """Raise SetupError if $PYTHON asks for another Python than the environment has."""
    version = python_version(venv)
    mine = f"{sys.version_info[0]}.{sys.version_info[1]}"
    asked = os.environ.get("PYTHON")
    if asked and version and not version.startswith(f"{mine}."):
        raise SetupError(
            f"PYTHON={asked} is Python {mine}, but {venv} was made with {version}; "
            "remove that folder to make it anew, or unset PYTHON"
        )


def site_packages(venv: Path) -> Path:
    """The folder that packages are installed to."""
    major, minor, _ = (python_version(venv) or "0.0.0").split(".")
    return venv / "lib" / f"python{major}.{minor}" / "site-packages"


def installed(venv: Path) -> dict[str, str]:
    """Version of each installed distribution by its normalised name."""
    found = {}
    for info in site_packages(venv).glob("*.dist-info"):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        found[re.sub(r"[-_.]+", "-", name).lower()] = version
    return found


def requirements(project: Path) -> list[str]:
    """What setup.py asks for, extras included.

    setup.py is run with a stand-in for setuptools, which a new environment does not have.
    """
    given: dict = {}
    stand_in = types.ModuleType("setuptools")
    stand_in.setup = given.update
    stand_in.find_packages = lambda **_: []
    before = sys.modules.get("setuptools")
    sys.modules["setuptools"] = stand_in
    try:
        runpy.run_path(str(project / "setup.py"))
    finally:
        del sys.modules["setuptools"]
        if before is not None:
            sys.modules["setuptools"] = before
    extras = [item for extra in EXTRAS for item in given["extras_require"][extra]]
    return list(dict.fromkeys([*given["install_requires"], *extras]))


def is_own(project: Path, venv: Path) -> bool:
    """Whether the environment belongs to this checkout alone."""
    return venv.resolve() == (project / ".venv").resolve()


def stamp_path(project: Path, venv: Path) -> Path:
    """The stamp of this project's state; another checkout's stamp may lie beside it."""
    parts = [(python_version(venv) or "").encode(), str(venv).encode()]
    if is_own(project, venv):
        parts.append(str(project).encode())  # installed from here, so a moved checkout shows
    parts += [(project / name).read_bytes() for name in ("setup.py", "scripts/constraints.txt")]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    return venv / f"ready-{key}.json"


def runs(*command: str | Path) -> bool:
    """Whether the command ends well."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def is_ready(project: Path, venv: Path) -> bool:
    """Whether the stamp is there and all that it lists still is."""
    try:
        entries = json.loads(stamp_path(project, venv).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    there = all((venv / entry).exists() for entry in entries)
    return there and runs(venv / "bin" / "python", "-c", "")


def record_of(info: Path) -> list[str]:
    """The files that a distribution says it has, compiled ones left out."""
    with (info / "RECORD").open(encoding="utf-8", newline="") as f:
        return [row[0] for row in csv.reader(f) if row and not row[0].endswith(".pyc")]


def broken(site: Path) -> list[Path]:
    """The .dist-info folders whose distribution is not whole.

    pip writes INSTALLER when all files and commands are in place; one that is stopped before, or
    in the middle of replacing a version, leaves a folder that it would later take for the package.
    """
    return [
        info
        for info in sorted(site.glob("*.dist-info"))
        if not (info / "INSTALLER").is_file()
        or not (info / "RECORD").is_file()
        or not all((site / file).exists() for file in record_of(info))
    ]


def was_moved(venv: Path) -> bool:
    """Whether the environment's commands name a Python in another folder: it was moved or copied."""
    try:
        with (venv / "bin" / "pip").open(encoding="utf-8") as f:
            first = f.readline().strip()
    except (OSError, UnicodeDecodeError):
        return False
    named = Path(first.removeprefix("#!"))
    return named.name.startswith("python") and named.parent.parent.resolve() != venv.resolve()


def is_whole(venv: Path) -> bool:
    """Whether the environment has a Python that runs and its pip."""
    return runs(venv / "bin" / "python", "-m", "pip", "--version") and not was_moved(venv)


def make(project: Path, venv: Path, lock: IO[str]) -> None:
    """Make the environment or repair it, install what setup.py asks for, and stamp it.

    Raises SetupError where a folder that was not made here cannot be used, and for a package that
    cannot be had.
    """
    python, log = venv / "bin" / "python", venv / "setup.log"
    make_folder(venv, log, lock)
    stamp = stamp_path(project, venv)
    stamp.unlink(missing_ok=True)
    site = site_packages(venv)
    for leftover in [*site.glob("~*"), *broken(site)]:
        shutil.rmtree(leftover)
    pip = [str(python), "-m", "pip", "install", "--progress-bar", "off", "--no-input"]
    constraints = ["-c", str(project / "scripts" / "constraints.txt")]
    tools = ["pip", "setuptools", "wheel"]
    run_logged("pip", [*pip, *constraints, *tools], log, lock)
    run_logged("packages", [*pip, *constraints, *requirements(project)], log, lock)
    if is_own(project, venv):
        if not is_installed_from(project, site):
            here = ["--no-deps", "--no-build-isolation", "-e", str(project)]
            run_logged("espnet_ctcrep", [*pip, *here], log, lock)
    elif not (command := venv / "bin" / "ctcrep").exists():
        command.write_text(SHARED_CTCREP.format(python=python), encoding="utf-8")
        command.chmod(0o755)
    write_stamp(stamp, venv, site)


def make_folder(venv: Path, log: Path, lock: IO[str]) -> None:
    """Make the environment with its Python and pip, or take the one that is there."""
    files = [path for path in venv.iterdir() if path.name not in KEPT]
    ours = not files or (venv / MARKER).exists()
    if ours:
        (venv / MARKER).touch()
    version = python_version(venv)
    fits = version is not None and version.startswith(("3.12.", "3.13."))
    if fits and is_whole(venv):
        return
    if not ours:
        # an environment made by uv has no pip
        if fits and not was_moved(venv):
            runs(venv / "bin" / "python", "-m", "ensurepip")
            if is_whole(venv):
                return
        raise SetupError(
            f"{venv} is not an environment with Python 3.12 or 3.13 that works in its place; "
            "remove it, or name another folder: CTCREP_VENV=/path"
        )
    for path in files:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    base = getattr(sys, "_base_executable", sys.executable)  # not the Python just removed
    run_logged("environment", [base, "-m", "venv", str(venv)], log, lock)


def is_installed_from(project: Path, site: Path) -> bool:
    """Whether the project is installed, editable, from this checkout."""
    for file in site.glob("espnet_ctcrep-*.dist-info/direct_url.json"):
        said = json.loads(file.read_text(encoding="utf-8"))
        editable = said.get("dir_info", {}).get("editable", False)
        return editable and said.get("url") == project.as_uri()
    return False


def write_stamp(stamp: Path, venv: Path, site: Path) -> None:
    """List what was installed: each .dist-info, top-level folder and command."""
    tops = {info.name for info in site.glob("*.dist-info")}
    commands = {"bin/ctcrep"}
    for info in site.glob("*.dist-info"):
        for file in record_of(info):
            top, _, _ = file.partition("/")
            if top != "..":
                tops.add(top)
            elif "/bin/" in file:
                commands.add(f"bin/{file.rpartition('/')[2]}")
    prefix = site.relative_to(venv)
    entries = sorted(commands | {str(prefix / top) for top in tops})
    temporary = stamp.with_suffix(".tmp")
    temporary.write_text(json.dumps(entries, indent=0), encoding="utf-8")
    temporary.replace(stamp)
