"""What a report is made from: a plan's directory, or a table of scores."""

from pathlib import Path

from espnet_ctcrep.plans.collect import collect
from espnet_ctcrep.report.build import ReportSpec
from espnet_ctcrep.scoring.tables import RunScore, read_scores
from espnet_ctcrep.utils.errors import InputError

__all__ = ["from_plan", "from_scores"]


def from_plan(plan_dir: Path) -> tuple[list[RunScore], ReportSpec]:
    """Scores and terms of a frozen plan; its label comes from lock and ledger."""
    result = collect(plan_dir)
    plan = result.plan
    return result.scores, ReportSpec(
        title=plan.name,
        baseline=plan.baseline,
        candidates=tuple(arm for arm in plan.arms if arm != plan.baseline),
        languages=plan.languages,
        alpha=plan.alpha,
        smallest_gain=plan.smallest_gain,
        worst=plan.worst,
        divergence_cer=plan.divergence_cer_at_least,
        label=result.label,
        label_reasons=tuple(result.reasons),
        ledger=result.counts,
    )


def from_scores(
    path: Path,
    baseline: str,
    candidates: tuple[str, ...],
    alpha: float,
    smallest_gain: float | None,
) -> tuple[list[RunScore], ReportSpec]:
    """Scores of a CSV of any toolkit, judged on the terms given.

    Raises:
        InputError: an arm that the table does not have.
    """
    scores = read_scores(path)
    arms = sorted({s.arm for s in scores})
    for arm in (baseline, *candidates):
        if arm not in arms:
            raise InputError(f"{path} has no arm {arm}; its arms are {', '.join(arms)}")
    return scores, ReportSpec(
        title=Path(path).name,
        baseline=baseline,
        candidates=candidates,
        alpha=alpha,
        smallest_gain=smallest_gain,
    )
