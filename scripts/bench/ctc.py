"""Time and error of the CTC backends on the CPU, as ratios to PyTorch's native kernel.

    python scripts/bench/ctc.py [--size T,B,V,S ...] [--rounds N] [--out FILE.csv]

All backends run in one process, in alternating order; a ratio is one of medians.
"""

import argparse
import csv
import platform
from dataclasses import asdict
from pathlib import Path

import torch

from espnet_ctcrep.ctc.measure import Measurement, Size, make_problem, measure, ways_on
from espnet_ctcrep.utils.files import atomic_open

SIZES = ("500,4,200,60", "1500,16,200,200", "1500,8,5000,200")


def parse_size(text: str) -> Size:
    numbers = [int(n) for n in text.split(",")]
    if len(numbers) != 4 or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not T,B,V,S")
    return Size(*numbers)


def print_table(size: Size, rows: list[Measurement]) -> None:
    print(f"\n{size}")
    print(f"{'backend':24} {'ratio':>6} {'seconds':>9} {'equal bits':>12} {'grad error':>11}")
    for row in rows:
        bits = f"{'yes' if row.equal_bits else 'NO'} ({row.repeats})"
        print(f"{row.way:24} {row.ratio:6.2f} {row.seconds:9.4f} {bits:>12} {row.grad_error:11.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=parse_size, nargs="+", metavar="T,B,V,S")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5, help="calls compared bit by bit")
    parser.add_argument("--out", type=Path, help="write the rows as CSV")
    options = parser.parse_args()
    threads = torch.get_num_threads()
    print(f"torch {torch.__version__}, {platform.machine()}, {threads} threads, forward + backward")
    records = []
    for size in options.size or [parse_size(text) for text in SIZES]:
        problem = make_problem(size, "cpu")
        rows = measure(problem, ways_on("cpu"), options.rounds, options.repeats, 60.0)
        print_table(size, rows)
        shared = {"torch": torch.__version__, "threads": threads} | asdict(size)
        records += [shared | asdict(row) for row in rows]
    if options.out:
        with atomic_open(options.out) as f:
            writer = csv.DictWriter(f, fieldnames=records[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
        print(f"\nwrote {options.out}")


if __name__ == "__main__":
    main()
