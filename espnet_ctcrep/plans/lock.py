"""The lock file of a plan, `plan.lock.json`: what was fixed, before the first run."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from espnet_ctcrep.plans.plan import Plan, content_hash, plan_from_dict
from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import write_text

__all__ = ["freeze", "lock_time", "read_lock"]

NAME = "plan.lock.json"


def _versions() -> dict[str, str]:
    found = {}
    for package in ("espnet-ctcrep", "espnet", "torch"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _configs(plan: Plan, root: Path) -> dict[str, str]:
    """The text of each arm's config."""
    texts = {}
    for name, arm in plan.arms.items():
        try:
            texts[name] = (root / arm.config).read_text(encoding="utf-8")
        except OSError as e:
            raise InputError(
                f"arms.{name}.config: cannot read {root / arm.config}: {e.strerror}"
            ) from e
    return texts


def _seal(lock: dict[str, Any]) -> str:
    body = {k: v for k, v in lock.items() if k != "seal"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _differences(old: Any, new: Any, key: str = "") -> Iterator[str]:
    """`key: old -> new` for each leaf in which two trees differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            inner = f"{key}.{name}" if key else name
            yield from _differences(old.get(name), new.get(name), inner)
    elif old != new:
        yield f"{key}: {old} -> {new}"


def freeze(plan: Plan, plan_dir: Path, config_root: Path, data_hash: str | None) -> Path:
    """Fix a plan in its directory; a second call with the same content changes nothing.

    Args:
        plan: the plan as loaded.
        plan_dir: its directory, `exp/<plan>`.
        config_root: what the arms' config paths are relative to.
        data_hash: hash of the data that is trained and tested on; None is not compared with a
            hash that was fixed before.

    Returns:
        The path of the lock file.

    Raises:
        InputError: the plan there is another one; the message says in what they differ.
    """
    path = plan_dir / NAME
    texts = _configs(plan, config_root)
    fixed = {
        "plan": plan.as_dict(),
        "configs": {k: hashlib.sha256(t.encode()).hexdigest() for k, t in texts.items()},
        "data": data_hash,
    }
    if path.exists():
        lock = _read(path)
        if data_hash is None:
            fixed["data"] = lock["data"]
        differences = list(_differences({k: lock[k] for k in fixed}, fixed))
        if differences:
            raise InputError(
                f"{path} fixed another plan ({'; '.join(differences)});"
                " give the new one another name, or restore what was fixed"
            )
        return path
    lock = {
        "schema": 1,
        **fixed,
        "content": content_hash(plan, texts),
        "versions": _versions(),
        "frozen": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    lock["seal"] = _seal(lock)
    write_text(path, json.dumps(lock, indent=1, ensure_ascii=False) + "\n")
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        lock = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise InputError(
            f"cannot read {path}: {e.strerror}; `ctcrep plan FILE --freeze` makes it"
        ) from e
    except ValueError as e:
        raise InputError(f"{path} is not JSON; restore the file") from e
    if not isinstance(lock, dict) or lock.get("seal") != _seal(lock):
        raise InputError(f"{path} was changed by hand after it was frozen; restore it")
    return lock


def read_lock(plan_dir: Path) -> Plan:
    """The plan that was fixed in this directory.

    Raises:
        InputError: no lock, or one that was edited.
    """
    return plan_from_dict(_read(Path(plan_dir) / NAME)["plan"])


def lock_time(plan_dir: Path) -> str:
    """When the plan was fixed: UTC, ISO 8601."""
    return _read(Path(plan_dir) / NAME)["frozen"]
