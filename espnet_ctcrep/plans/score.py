"""Scoring the decoded runs of a plan, each with its line in the ledger."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.lock import read_lock
from espnet_ctcrep.plans.runs import ledger_path, planned_runs
from espnet_ctcrep.scoring.run import score_run

__all__ = ["score_plan"]


def score_plan(
    plan_dir: Path,
    ref: Path,
    utt2lang: Path,
    decoded: str,
    definition: str,
    say: Callable[[str], None],
) -> int:
    """Score every run of a plan that is decoded and not scored yet.

    A run is scored again where its hypotheses or the definition changed since; the ledger then
    holds both results.

    Args:
        plan_dir: the plan's directory.
        ref: Kaldi text of the references.
        utt2lang: Kaldi table, utterance id -> language.
        decoded: directory of the hypotheses inside a run, e.g. `decode_greedy/test_1h`.
        definition: one of `scoring.cer.DEFINITIONS`.
        say: prints one line.

    Returns:
        How many planned runs are not decoded.
    """
    plan = read_lock(plan_dir)
    path = ledger_path(plan_dir)
    ledger.repair(path)  # scoring is all that is left where a writer was killed in it
    ends = {
        (e.arm, e.replicate): e.fields
        for e in ledger.read(path)
        if e.event in ("finished", "diverged")
    }
    missing = 0
    for run in planned_runs(plan, plan_dir):
        hyp = run.dir / decoded / "text"
        if not hyp.exists():
            missing += 1
            say(f"{run.name} is not decoded: {hyp} is missing")
            continue
        source = {
            "decoded": decoded,
            "definition": definition,
            "text_sha256": hashlib.sha256(hyp.read_bytes()).hexdigest(),
        }
        before = ends.get((run.arm, run.replicate), {})
        if (run.dir / "scores.csv").exists() and source.items() <= before.items():
            continue
        rows = score_run(
            ref, hyp, utt2lang, run.arm, run.replicate, run.streams.init, run.dir, definition
        )
        cer = {row.language: row.cer for row in rows}
        worst = max(cer, key=cer.get)
        event = "diverged" if cer[worst] >= plan.divergence_cer_at_least else "finished"
        ledger.append(path, event, run.arm, run.replicate, **source, cer=cer)
        listed = ", ".join(f"{language} {value:.1f}" for language, value in cer.items())
        say(f"{run.name}: CER in percent: {listed}")
    return missing
