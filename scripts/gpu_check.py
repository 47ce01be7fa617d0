"""What the CTC backends and strict training do on a GPU, measured in under six minutes.

    scripts/gpu_check.sh [--out gpu_check.json]     on a machine with a CUDA device
    scripts/gpu_check.sh --rehearse                 the same program, tiny sizes, on the CPU

Backend by backend: forward and backward time as a ratio to `native`, equality of bits over 100
repeats, peak extra memory, error against float64. Then ten training steps of a model of
MMS-300M's size in strict mode, twice, compared bit by bit, and what strict mode costs.
Exit status: 0 measured, 1 something that must hold did not, 3 no CUDA device.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import torch

from espnet_ctcrep.ctc import ctc_loss
from espnet_ctcrep.ctc.measure import Measurement, Size, make_problem, measure, ways_on
from espnet_ctcrep.utils.files import write_text

SIZES = (Size(500, 4, 200, 60), Size(1500, 16, 200, 200), Size(1500, 8, 5000, 200))
REHEARSAL = (Size(40, 2, 12, 8),)
# Ratios to `native` that are wanted at every size before `triton` may become the default.
GOALS = {"deterministic (triton)": 1.0, "deterministic (aten)": 2.0}
MUST_REPEAT = ("cudnn", "cpu", "deterministic (aten)", "deterministic (aten64)")
SECONDS_FOR_REPEATS = 8.0
STEPS = 10
CLASSES = 200


def environment(device: str) -> dict:
    """Versions and hardware that the figures belong to."""
    facts = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "device": None,
    }
    if device == "cuda":
        facts["device"] = torch.cuda.get_device_name()
        facts["capability"] = list(torch.cuda.get_device_capability())
        facts["cudnn"] = torch.backends.cudnn.version()
    return facts


def print_measurements(size: Size, rows: list[Measurement]) -> None:
    print(f"\n{size}  (forward + backward)", flush=True)
    print(
        f"{'backend':24} {'ratio':>6} {'ms':>8} {'equal bits':>11} {'extra MiB':>10} {'error':>8}"
    )
    for row in rows:
        if row.failure:
            print(f"{row.way:24} not measured: {row.failure}")
            continue
        bits = f"{'yes' if row.equal_bits else 'no'} ({row.repeats})"
        memory = "-" if row.extra_bytes is None else f"{row.extra_bytes / 2**20:.0f}"
        print(
            f"{row.way:24} {row.ratio:6.2f} {1e3 * row.seconds:8.2f} {bits:>11} {memory:>10} "
            f"{row.grad_error:8.1e}",
            flush=True,
        )


def check_backends(device: str, sizes: tuple[Size, ...], repeats: int) -> list[dict]:
    records = []
    for size in sizes:
        problem = make_problem(size, device)
        rows = measure(problem, ways_on(device), 7, repeats, SECONDS_FOR_REPEATS)
        print_measurements(size, rows)
        records.append({"size": asdict(size), "backends": [asdict(row) for row in rows]})
    return records


def goals_met(records: list[dict]) -> dict[str, bool | None]:
    """Whether each goal holds at every size; None if a way could not be measured at one."""
    met = {}
    for way, most in GOALS.items():
        ratios = [row["ratio"] for r in records for row in r["backends"] if row["way"] == way]
        unmeasured = not ratios or None in ratios
        met[way] = None if unmeasured else all(ratio <= most for ratio in ratios)
        if not unmeasured:
            shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"goal: {way} at most {most} times native: {shown}: {met[way]}")
    return met


def broken_promises(records: list[dict]) -> list[str]:
    """What is promised to repeat bit for bit and did not."""
    return [
        f"{row['way']} gave other bits at {Size(**record['size'])}"
        for record in records
        for row in record["backends"]
        if row["way"] in MUST_REPEAT and row["equal_bits"] is False
    ]


def build_model(small: bool) -> torch.nn.Module:
    """wav2vec 2.0 of MMS-300M's architecture with random weights, and a linear CTC output."""
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    width, layers, heads = (32, 2, 2) if small else (1024, 24, 16)
    config = Wav2Vec2Config(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        feat_extract_norm="layer",
        do_stable_layer_norm=True,
        conv_bias=True,
        conv_dim=(32 if small else 512,) * 7,
        num_conv_pos_embedding_groups=16,
    )
    encoder = Wav2Vec2Model(config).train()
    return torch.nn.ModuleDict({"encoder": encoder, "output": torch.nn.Linear(width, CLASSES)})


def train(device: str, strict: bool, small: bool) -> dict:
    """Ten steps from a fixed seed: a hash of all weights, the losses, seconds a step."""
    if strict:
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = False
    torch.manual_seed(0)
    model = build_model(small).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    samples, labels = (16000, 6) if small else (160_000, 60)
    generator = torch.Generator().manual_seed(0)
    losses, seconds = [], []
    import numpy as np

    np.random.seed(0)  # the encoder's span masking draws from it
    for _ in range(STEPS):
        speech = torch.randn(4, samples, generator=generator).to(device)
        targets = torch.randint(1, 40, (4, labels), generator=generator).to(device)
        start = time.perf_counter()
        hidden = model["encoder"](speech).last_hidden_state
        log_probs = model["output"](hidden).log_softmax(2).float().transpose(0, 1)
        frames = torch.linspace(1.0, 0.8, 4, device=device).mul(len(log_probs)).long()
        lengths = torch.full((4,), labels, device=device)
        backend = "deterministic" if strict else "native"
        loss = ctc_loss(log_probs, targets, frames, lengths, zero_infinity=True, backend=backend)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())  # waits for the device
        seconds.append(time.perf_counter() - start)
    weights = hashlib.sha256()
    for parameter in model.state_dict().values():
        weights.update(parameter.cpu().numpy().tobytes())
    parameters = sum(p.numel() for p in model.parameters())
    # The first steps load kernels and plan convolutions.
    typical = sorted(seconds[2:])[len(seconds[2:]) // 2]
    return {
        "sha256": weights.hexdigest(),
        "losses": losses,
        "seconds": typical,
        "parameters": parameters,
    }


def trained_in_a_new_process(device: str, strict: bool, small: bool) -> dict:
    """`train` where nothing of an earlier run is left, with cuBLAS' workspace as strict needs."""
    variables = dict(os.environ)
    if strict:
        variables["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    command = [sys.executable, __file__, "--train", "strict" if strict else "off"]
    command += ["--rehearse"] if small else []
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"training stopped: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def check_training(device: str, small: bool) -> dict:
    try:
        first, second, free = (
            trained_in_a_new_process(device, strict, small) for strict in (True, True, False)
        )
    except RuntimeError as e:
        print(f"\ntraining: not measured: {e}")
        return {"failure": str(e)}
    result = {
        "parameters": first["parameters"],
        "steps": STEPS,
        "equal_weights": first["sha256"] == second["sha256"],
        "equal_losses": first["losses"] == second["losses"],
        "strict_over_off": first["seconds"] / free["seconds"],
        "losses": first["losses"],
    }
    print(
        f"\n{STEPS} steps of {first['parameters'] / 1e6:.0f} M parameters, strict, twice: "
        f"{'equal' if result['equal_weights'] else 'DIFFERENT'} weights; "
        f"a strict step takes {result['strict_over_off']:.2f} times an ordinary one"
    )
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gpu_check.json"))
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes on the CPU")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--train", choices=["strict", "off"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    device = "cpu" if options.rehearse else "cuda"
    if options.train:
        print(json.dumps(train(device, options.train == "strict", options.rehearse)))
        return 0
    report = {"rehearsal": options.rehearse, "environment": environment("cpu")}
    if device == "cuda" and not torch.cuda.is_available():
        reason = "no CUDA device here: nothing was measured (--rehearse tries the program itself)"
        print(reason)
        write_text(options.out, json.dumps(report | {"not_measured": reason}, indent=1) + "\n")
        return 3
    report["environment"] = environment(device)
    if options.rehearse:
        print("rehearsal on the CPU: no figure below says anything about a GPU")
    else:
        print(f"{report['environment']['device']}, torch {torch.__version__}")
    started = time.perf_counter()
    sizes = REHEARSAL if options.rehearse else SIZES
    report["sizes"] = check_backends(device, sizes, options.repeats)
    report["goals"] = goals_met(report["sizes"])
    report["training"] = check_training(device, options.rehearse)
    problems = broken_promises(report["sizes"])
    if report["training"].get("equal_weights") is not True:
        problems.append("strict training did not repeat itself")
    report["problems"] = problems
    report["seconds"] = time.perf_counter() - started
    write_text(options.out, json.dumps(report, indent=1, allow_nan=False) + "\n")
    for problem in problems:
        print(f"PROBLEM: {problem}")
    print(f"\nwrote {options.out} after {report['seconds']:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
