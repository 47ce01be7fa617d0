"""A plan as a person reads it, and as shell variables for the recipe."""

import shlex
from pathlib import Path

from espnet_ctcrep.plans.plan import Plan
from espnet_ctcrep.plans.runs import Run, planned_runs

__all__ = ["as_shell", "as_text"]


def as_text(plan: Plan, plan_dir: Path) -> str:
    """What will run, with the seeds of every replicate."""
    lines = [
        f"plan {plan.name}: {len(plan.arms)} arms x {plan.replicates} replicates"
        f" = {len(plan.arms) * plan.replicates} runs, root seed {plan.root_seed}",
        f"directory {plan_dir}, test set {plan.test_set}, languages {' '.join(plan.languages)}",
    ]
    for name, arm in plan.arms.items():
        note = " (baseline)" if name == plan.baseline else ""
        lines.append(f"arm {name}{note}: {arm.config} {arm.asr_args}".rstrip())
    lines.append("replicate        init        data       noise")
    for run in planned_runs(plan, plan_dir):
        if run.arm == plan.baseline:
            s = run.streams
            lines.append(f"{run.replicate:9d} {s.init:11d} {s.data:11d} {s.noise:11d}")
    return "\n".join(lines)


def as_shell(plan: Plan, plan_dir: Path, run: Run | None = None) -> str:
    """Shell assignments that the recipe evaluates, with the options of one run if given."""
    values = {
        "plan_dir": str(plan_dir),
        "plan_test_set": plan.test_set,
        "baseline_config": plan.arms[plan.baseline].config,
    }
    if run is not None:
        seeds = " ".join(f"--{k}_seed {v}" for k, v in vars(run.streams).items())
        values["run_dir"] = str(run.dir)
        values["run_config"] = plan.arms[run.arm].config
        values["run_asr_args"] = f"{seeds} {plan.arms[run.arm].asr_args}".strip()
    return "\n".join(f"{k}={shlex.quote(v)}" for k, v in values.items())
