"""ESPnet's ASR task with a choice of CTC backends and separate seed streams."""

import argparse
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from espnet2.tasks.asr import ASRTask
from espnet2.train.trainer import Trainer
from espnet2.utils.types import int_or_none

from espnet_ctcrep.determinism.streams import Streams
from espnet_ctcrep.training.ctc import CTCChoice, put_backend, take_ctc_choice
from espnet_ctcrep.training.record import write_record
from espnet_ctcrep.training.upstream import keep_seed, switch_off_layerdrop

__all__ = ["ReproASRTask"]


@dataclass(frozen=True)
class RunSettings:
    """What this process trains with, beside ESPnet's own options."""

    ctc: CTCChoice
    streams: Streams
    own_init: bool  # the init stream was named, and must then decide the new parameters


class ReproTrainer(Trainer):
    """ESPnet's trainer, seeded each epoch from the noise stream."""

    settings: ClassVar[RunSettings]

    @classmethod
    def build_options(cls, args: argparse.Namespace):
        options = super().build_options(args)
        # The trainer seeds dropout, SpecAug and masking with `seed + epoch` from here.
        options.seed = cls.settings.streams.noise
        return options


class ReproASRTask(ASRTask):
    """ASRTask whose trained models load in stock ESPnet.

    Our options are taken out of the arguments before ESPnet sees them, so the `config.yaml` of a
    run names nothing that stock ESPnet does not know; they are recorded in `run.json`.
    """

    trainer = ReproTrainer

    @classmethod
    def add_task_arguments(cls, parser: argparse.ArgumentParser) -> None:
        super().add_task_arguments(parser)
        group = parser.add_argument_group("Seed streams (espnet_ctcrep)")
        for stream, what in (
            ("init", "new parameters"),
            ("data", "the order of batches"),
            ("noise", "dropout, SpecAug, layer drop and masking"),
        ):
            group.add_argument(
                f"--{stream}_seed",
                type=int_or_none,
                default=None,
                help=f"Seed of {what}. --seed if not given",
            )

    @classmethod
    def main_worker(cls, args: argparse.Namespace) -> None:
        device = "cuda" if args.ngpu > 0 else "cpu"
        asked = {**vars(args)}
        choice, args.ctc_conf = take_ctc_choice(args.ctc_conf, device)
        seeds = {s: vars(args).pop(f"{s}_seed") for s in ("init", "data", "noise")}
        streams = Streams(**{s: args.seed if v is None else v for s, v in seeds.items()})
        # ESPnet draws the new parameters from args.seed, at the top of main_worker.
        args.seed = streams.init
        ReproTrainer.settings = RunSettings(choice, streams, seeds["init"] is not None)
        if not args.collect_stats and args.dist_rank in (None, 0):
            output_dir = Path(args.output_dir)
            output_dir.mkdir(parents=True, exist_ok=True)
            write_record(output_dir, asked, choice, streams)
        super().main_worker(args)

    @classmethod
    def build_model(cls, args: argparse.Namespace):
        settings = ReproTrainer.settings
        with keep_seed() if settings.own_init and args.frontend == "s3prl" else nullcontext():
            model = super().build_model(args)
        switch_off_layerdrop(model)
        if model.ctc is not None:
            put_backend(model.ctc, settings.ctc)
        return model

    @classmethod
    def build_iter_factory(cls, args: argparse.Namespace, *rest, **kwargs):
        # The iterators shuffle with `seed + epoch`, whatever their type.
        data_args = argparse.Namespace(**{**vars(args), "seed": ReproTrainer.settings.streams.data})
        return super().build_iter_factory(data_args, *rest, **kwargs)
