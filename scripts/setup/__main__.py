"""Set-up after a Python was found: environment, ESPnet's tree, links; called by setup.sh.

Standard library only: it runs before anything is installed.
"""

import os
import sys
from pathlib import Path

import environment
import espnet_tree
from locking import locked
from progress import SetupError


def display(path: Path, project: Path) -> str:
    """`path` as a person would type it in the project."""
    return str(path.relative_to(project) if path.is_relative_to(project) else path)


def ready_line(project: Path, venv: Path) -> str:
    """One line that says what is ready."""
    found = environment.installed(venv)
    tree = espnet_tree.current_tree(project)
    python = environment.python_version(venv)
    return (
        f"ready: Python {python}, torch {found.get('torch', 'missing')}, ESPnet {found['espnet']} "
        f"({display(tree, project)}), environment {display(venv, project)}"
    )


def set_up(project: Path, venv: Path) -> None:
    """Make what is missing; nothing is touched where all is ready."""
    named_tree = os.environ.get("ESPNET_ROOT")
    wanted_tree = (project / named_tree).resolve() if named_tree else None
    environment.check_python_fits(venv)

    def ready() -> bool:
        return environment.is_ready(project, venv) and espnet_tree.is_ready(
            project, environment.installed(venv)["espnet"], wanted_tree
        )

    if not ready():
        if wanted_tree is not None:  # a wrong tree shows before minutes of installing
            espnet_tree.check_shape(wanted_tree)
        with locked(project / "tools" / "setup.lock"), locked(venv / "setup.lock") as lock:
            if not ready():  # another set-up may just have finished
                environment.make(project, venv, lock)
                espnet_tree.make(project, venv, wanted_tree, lock)
    print(ready_line(project, venv))


def main() -> int:
    """Exit status 0 when all is ready, 1 with one sentence when not, 130 after Ctrl-C."""
    try:
        set_up(Path(sys.argv[1]), Path(sys.argv[2]))
    except SetupError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"error: {e}; nothing is lost, run scripts/setup.sh again", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; run scripts/setup.sh again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
