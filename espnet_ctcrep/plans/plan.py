"""The plan file: what is compared, with how many replicates, judged how."""

import difflib
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from espnet_ctcrep.utils.errors import InputError

__all__ = ["Arm", "Plan", "content_hash", "load_plan", "plan_from_dict"]

ENDPOINTS = ("macro_cer", "worst_cer")
MAX_PER_REPLICATE = "max_per_replicate"
NOT_NUMBERS = (math.inf, -math.inf)
TOP_KEYS = tuple(
    "name root_seed replicates arms baseline languages test_set endpoints alpha smallest_gain "
    "divergence".split()
)
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Arm:
    """One side of the comparison: a config, and options of asr_train given beside it."""

    config: str
    asr_args: str = ""


@dataclass(frozen=True)
class Plan:
    """What is fixed before the first run.

    Attributes:
        name: also the name of the plan's directory.
        root_seed: from which the seeds of all replicates are spawned.
        replicates: runs an arm.
        arms: name -> arm, in the file's order.
        baseline: name of the arm that the others are compared with.
        languages: the family of endpoints; each is reported, also where runs failed.
        test_set: data set that is scored.
        primary: endpoints that the verdict rests on.
        worst: `max_per_replicate`, or the language that is fixed as the worst one beforehand.
        alpha: level of the tests.
        smallest_gain: CER points worth having, or None.
        divergence_cer_at_least: CER in percent from which a run counts as diverged.
    """

    name: str
    root_seed: int
    replicates: int
    arms: dict[str, Arm]
    baseline: str
    languages: tuple[str, ...]
    test_set: str
    primary: tuple[str, ...] = ENDPOINTS
    worst: str = MAX_PER_REPLICATE
    alpha: float = 0.05
    smallest_gain: float | None = None
    divergence_cer_at_least: float = 100.0

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as JSON keeps it."""
        return json.loads(json.dumps(asdict(self)))


def plan_from_dict(values: Mapping[str, Any]) -> Plan:
    """The inverse of `Plan.as_dict`."""
    return Plan(
        **{
            **values,
            "arms": {name: Arm(**arm) for name, arm in values["arms"].items()},
            "languages": tuple(values["languages"]),
            "primary": tuple(values["primary"]),
        }
    )


class Node:
    """A YAML mapping with the line of each key, for messages."""

    def __init__(self, node: yaml.Node, path: Path, where: str = ""):
        if not isinstance(node, yaml.MappingNode):
            line = node.start_mark.line + 1
            raise InputError(f"{path}:{line}: {where or 'the plan'} must be keys with values")
        self.path, self.where = path, where
        self.values: dict[str, yaml.Node] = {}
        self.lines: dict[str, int] = {}
        self.line = node.start_mark.line + 1
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in self.values:
                raise InputError(
                    f"{path}:{line}: {self.full(name)} stands there twice"
                    f" (first in line {self.lines[name]}); keep one"
                )
            self.values[name], self.lines[name] = value, line

    def full(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def only(self, known: tuple[str, ...]) -> None:
        """Refuse keys that are not known."""
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
                raise InputError(
                    f"{self.path}:{self.lines[key]}: unknown key {self.full(key)}{hint}"
                )

    def child(self, key: str) -> "Node":
        return Node(self.values[key], self.path, self.full(key))

    def get(self, key: str, check: type | tuple[type, ...], what: str, default: Any = ...) -> Any:
        """The value of a key, of the right type; an error without default where it is missing."""
        if key not in self.values:
            if default is ...:
                raise InputError(
                    f"{self.path}:{self.line}: {self.full(key)} is missing; give {what}"
                )
            return default
        try:
            value = yaml.SafeLoader("").construct_object(self.values[key], deep=True)
        except (yaml.YAMLError, ValueError):  # ValueError: a date such as 2026-13-01
            raise self.wrong(key, str(self.values[key].value), what) from None
        # bool is an int to Python, not to a person
        if not isinstance(value, check) or isinstance(value, bool) or value in NOT_NUMBERS:
            raise self.wrong(key, value, what)
        return value

    def wrong(self, key: str, value: Any, what: str) -> InputError:
        line = self.lines.get(key, self.line)
        return InputError(f"{self.path}:{line}: {self.full(key)}={value!r}; give {what}")

    def names(self, key: str, what: str, allowed: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of names, none twice."""
        values = self.get(key, list, what)
        if not values or not all(isinstance(v, str) for v in values):
            raise self.wrong(key, values, what)
        for value in values:
            if values.count(value) > 1 or (allowed is not None and value not in allowed):
                raise self.wrong(key, value, what)
        return tuple(values)


def compose(path: Path) -> yaml.Node:
    """The file as YAML nodes, which know their lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as e:
        raise InputError(f"cannot read the plan {path}: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise InputError(f"the plan {path} is not UTF-8; convert the file") from e
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as e:
        line = e.problem_mark.line + 1 if e.problem_mark else 1
        raise InputError(f"{path}:{line}: not YAML ({e.problem}); correct the line") from e
    if node is None:
        raise InputError(f"the plan {path} is empty; conf/plans/demo.yaml is an example")
    return node


def load_plan(path: Path) -> Plan:
    """Read and check a plan file.

    Raises:
        InputError: names the file, the line, the key and what to give.
    """
    path = Path(path)
    root = Node(compose(path), path)
    root.only(TOP_KEYS)
    name_rule = "a name of letters, digits, _ and -"
    name = root.get("name", str, name_rule)
    if not NAME.fullmatch(name):
        raise root.wrong("name", name, name_rule)
    root_seed = root.get("root_seed", int, "a whole number, 0 or more")
    if root_seed < 0:
        raise root.wrong("root_seed", root_seed, "a whole number, 0 or more")
    replicates = root.get("replicates", int, "a whole number, 1 or more")
    if replicates < 1:
        raise root.wrong("replicates", replicates, "a whole number, 1 or more")

    arms = {}
    root.get("arms", dict, "two or more arms")
    arm_nodes = root.child("arms")
    for arm_name in arm_nodes.values:
        if not NAME.fullmatch(arm_name):
            raise arm_nodes.wrong(arm_name, arm_name, name_rule)
        node = arm_nodes.child(arm_name)
        node.only(("config", "asr_args"))
        arms[arm_name] = Arm(
            node.get("config", str, "the training config, from the recipe's directory"),
            node.get("asr_args", str, "one string of asr_train's options", ""),
        )
    if len(arms) < 2:
        raise root.wrong("arms", list(arms), "two arms or more")
    baseline = root.get("baseline", str, f"one of the arms {', '.join(arms)}")
    if baseline not in arms:
        raise root.wrong("baseline", baseline, f"one of the arms {', '.join(arms)}")

    languages = root.names("languages", "a list of language codes, none twice")
    test_set = root.get("test_set", str, name_rule)
    if not NAME.fullmatch(test_set):
        raise root.wrong("test_set", test_set, name_rule)

    endpoints: dict[str, Any] = {}
    if "endpoints" in root.values:
        node = root.child("endpoints")
        node.only(("primary", "worst"))
        if "primary" in node.values:
            endpoints["primary"] = node.names(
                "primary", f"a list of {' and '.join(ENDPOINTS)}", ENDPOINTS
            )
        worst_rule = f"{MAX_PER_REPLICATE} or one of the languages"
        endpoints["worst"] = node.get("worst", str, worst_rule, MAX_PER_REPLICATE)
        if endpoints["worst"] not in (MAX_PER_REPLICATE, *languages):
            raise node.wrong("worst", endpoints["worst"], worst_rule)

    alpha = root.get("alpha", (int, float), "a number between 0 and 1", 0.05)
    if not 0 < alpha < 1:
        raise root.wrong("alpha", alpha, "a number between 0 and 1")
    gain = root.get("smallest_gain", (int, float, type(None)), "CER points above 0, or null", None)
    if gain is not None and not gain > 0:
        raise root.wrong("smallest_gain", gain, "CER points above 0, or null")
    divergence = 100.0
    if "divergence" in root.values:
        node = root.child("divergence")
        node.only(("cer_at_least",))
        divergence = node.get("cer_at_least", (int, float), "a CER in percent, above 0")
        if not divergence > 0:
            raise node.wrong("cer_at_least", divergence, "a CER in percent, above 0")
    return Plan(
        name=name,
        root_seed=root_seed,
        replicates=replicates,
        arms=arms,
        baseline=baseline,
        languages=languages,
        test_set=test_set,
        alpha=float(alpha),
        smallest_gain=None if gain is None else float(gain),
        divergence_cer_at_least=float(divergence),
        **endpoints,
    )


def content_hash(plan: Plan, configs: Mapping[str, str]) -> str:
    """SHA-256 of a plan and of the content of each arm's config (arm name -> text)."""
    content = {"plan": plan.as_dict(), "configs": dict(configs)}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
