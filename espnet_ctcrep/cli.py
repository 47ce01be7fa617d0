"""The command line, `ctcrep`: thin commands over the rooms of the package."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from espnet_ctcrep.utils.errors import InputError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Reproducible CTC fine-tuning in ESPnet: plans of many seeds, decoding, scores, reports.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Step(StrEnum):
    """A step of a run that is done in a job of its own."""

    train = "train"
    decode = "decode"


class Definition(StrEnum):
    """Which of the public definitions of CER."""

    pooled = "pooled"
    asr_sh = "asr_sh"
    ml_superb2 = "ml_superb2"


PlanFile = Annotated[Path, typer.Argument(help="The plan, a YAML file.")]
PlanDir = Annotated[Path, typer.Argument(help="The directory of a frozen plan, exp/<plan>.")]
Arm = Annotated[str, typer.Option(help="Name of the arm.")]
Replicate = Annotated[int, typer.Option(min=0, help="Number of the replicate, from 0.")]


def say(line: str) -> None:
    print(line, flush=True)


@app.command()
def plan(
    file: PlanFile,
    exp: Annotated[Path, typer.Option(help="Where the directories of plans are.")] = Path("exp"),
    freeze: Annotated[bool, typer.Option("--freeze", help="Fix the plan in exp/<plan>.")] = False,
    data: Annotated[
        list[Path] | None, typer.Option(help="Kaldi data directory to fix with the plan.")
    ] = None,
    shell: Annotated[bool, typer.Option("--shell", help="Print shell variables instead.")] = False,
    arm: Annotated[str | None, typer.Option(help="With --shell: of this run, too.")] = None,
    replicate: Annotated[int, typer.Option(min=0, help="With --arm: its replicate.")] = 0,
) -> None:
    """Check a plan, show what it will run, and freeze it before the first run."""
    from espnet_ctcrep.plans.data import data_hash
    from espnet_ctcrep.plans.lock import freeze as freeze_plan
    from espnet_ctcrep.plans.plan import load_plan
    from espnet_ctcrep.plans.runs import find_run
    from espnet_ctcrep.plans.show import as_shell, as_text

    loaded = load_plan(file)
    plan_dir = exp / loaded.name
    if freeze:
        freeze_plan(loaded, plan_dir, Path(), data_hash(data) if data else None)
    if shell:
        run = None if arm is None else find_run(loaded, plan_dir, arm, replicate)
        say(as_shell(loaded, plan_dir, run))
    else:
        say(as_text(loaded, plan_dir))


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    step: Annotated[Step, typer.Option(help="What to do for each run that lacks it.")],
    cmd: Annotated[str, typer.Option(help="ESPnet's run.pl, slurm.pl or their like.")],
    plan_dir: PlanDir,
    command: Annotated[list[str], typer.Argument(help="The recipe: ./run.sh and its options.")],
    max_jobs: Annotated[int, typer.Option(min=1, help="Runs side by side.")] = 1,
    decoded: Annotated[str, typer.Option(help="With decode: what each run gets.")] = "",
) -> None:
    """Do one step for all runs of a plan that lack it, as one job array."""
    from espnet_ctcrep.plans.driver import run_array

    try:
        failed = run_array(plan_dir, step.value, cmd, command, max_jobs, decoded, say)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if failed:
        raise typer.Exit(1)


@app.command(hidden=True, context_settings={"allow_interspersed_args": False})
def job(
    step: Annotated[Step, typer.Option()],
    arm: Arm,
    replicate: Replicate,
    plan_dir: PlanDir,
    command: Annotated[list[str], typer.Argument()],
    decoded: Annotated[str, typer.Option()] = "",
) -> None:
    """One step of one run, with its line in the ledger; what the job array starts."""
    from espnet_ctcrep.plans.job import run_job
    from espnet_ctcrep.plans.lock import read_lock
    from espnet_ctcrep.plans.runs import find_run

    one = find_run(read_lock(plan_dir), plan_dir, arm, replicate)
    raise typer.Exit(run_job(plan_dir, one, step.value, decoded, command))


@app.command()
def decode(
    config: Annotated[Path, typer.Option(help="The trained run's config.yaml.")],
    model: Annotated[Path, typer.Option(help="Weights, e.g. valid.loss.ave.pth.")],
    wav_scp: Annotated[Path, typer.Option(help="Kaldi table: utterance id, audio file.")],
    out: Annotated[Path, typer.Option(help="Directory that gets the file `text`.")],
    batch_size: Annotated[int, typer.Option(min=1, help="Utterances in a batch.")] = 8,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Decode audio with a CTC model: greedy, in batches."""
    from espnet_ctcrep.decoding.greedy import GreedyDecoder
    from espnet_ctcrep.utils.files import read_table, write_text

    table = read_table(wav_scp)
    texts, timing = GreedyDecoder(config, model, device).decode_table(table, batch_size)
    write_text(
        out / "text", "".join(f"{utt} {text}".rstrip() + "\n" for utt, text in texts.items())
    )
    say(
        f"decoded {timing.utterances} utterances ({timing.audio_seconds:.1f} s of audio)"
        f" in {timing.seconds:.2f} s without loading: {out / 'text'}"
    )


@app.command()
def score(
    ref: Annotated[Path, typer.Option(help="Kaldi text of the references.")],
    utt2lang: Annotated[Path, typer.Option(help="Kaldi table: utterance id, language.")],
    hyp: Annotated[Path | None, typer.Option(help="Kaldi text of the hypotheses.")] = None,
    out: Annotated[Path | None, typer.Option(help="Gets scores.csv and utterances.csv.")] = None,
    arm: Annotated[str, typer.Option(help="Name of the arm.")] = "arm",
    replicate: Replicate = 0,
    seed: Annotated[int | None, typer.Option(help="Seed of the run, if known.")] = None,
    plan_dir: Annotated[
        Path | None, typer.Option(help="Score all decoded runs of this plan instead.")
    ] = None,
    decoded: Annotated[
        str, typer.Option(help="With --plan-dir: where in a run the text is.")
    ] = "decode_greedy",
    definition: Annotated[Definition, typer.Option(help="Definition of CER.")] = Definition.pooled,
) -> None:
    """Count edits and characters per utterance and language; CER in percent, lower is better."""
    from espnet_ctcrep.scoring.run import score_run

    if plan_dir is not None:
        from espnet_ctcrep.plans.score import score_plan

        if score_plan(plan_dir, ref, utt2lang, decoded, definition.value, say):
            raise typer.Exit(1)
        return
    if hyp is None or out is None:
        raise InputError("--hyp and --out are missing; give them, or --plan-dir for all runs")
    for row in score_run(ref, hyp, utt2lang, arm, replicate, seed, out, definition.value):
        say(f"{row.language}: CER {row.cer:.2f}% ({row.edits} edits, {row.chars} characters)")


@app.command()
def report(
    plan_dir: Annotated[
        Path | None, typer.Option("--plan", help="Directory of a plan, exp/<plan>.")
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="CSV: arm,replicate,language,edits,chars,status[,seed].")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="With --scores: the arm.")] = None,
    candidate: Annotated[
        list[str] | None, typer.Option(help="With --scores: the arm or arms.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="With --scores: level of the test.")] = 0.05,
    smallest_gain: Annotated[
        float | None, typer.Option(help="With --scores: CER points worth having.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory of the report.")] = None,
) -> None:
    """Compare arms: terminal table, report.json, report.html and more."""
    from rich.console import Console

    from espnet_ctcrep.report.build import build_report
    from espnet_ctcrep.report.source import from_plan, from_scores
    from espnet_ctcrep.report.terminal import render
    from espnet_ctcrep.report.write import write_report

    if (plan_dir is None) == (scores is None):
        raise InputError("give either --plan exp/<plan> or --scores FILE.csv")
    if plan_dir is not None:
        rows, spec = from_plan(plan_dir)
        out = out or plan_dir / "report"
    else:
        if baseline is None or not candidate or out is None:
            raise InputError("--scores needs --baseline ARM, --candidate ARM and --out DIR")
        rows, spec = from_scores(scores, baseline, tuple(candidate), alpha, smallest_gain)
    made = build_report(rows, spec)
    paths = write_report(made, out)
    render(made, Console())
    say(f"report: {paths['html'].resolve()}")


def main() -> None:
    """Run `ctcrep`; a wrong input is one sentence and exit status 2."""
    try:
        app()
    except InputError as e:
        print(f"error: {e}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
