"""The recipe in a directory of its own, so that tests never touch a checkout's data or runs."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
RECIPE = Path("egs2/ml_superb6/asr1")
PLAN = """
name: small
root_seed: 7
replicates: 2
arms:
  baseline:
    config: conf/demo/train_asr_ctc.yaml
    asr_args: --max_epoch 2 --num_iters_per_epoch 2
  half_lr:
    config: conf/demo/train_asr_ctc_half_lr.yaml
    asr_args: --max_epoch 2 --num_iters_per_epoch 2
baseline: baseline
languages: [eng, heb, jpn]
test_set: demo_test_1h
"""
LANGUAGES = "eng:voxforge,heb:fleurs,jpn:fleurs"
DATA = ("--languages", LANGUAGES)
SPEAK = ("--demo_opts", "--train 6 --dev 2 --test 4 --languages eng,heb,jpn")


@dataclass(frozen=True)
class Recipe:
    """A copy of the recipe directory and the environment in which it runs."""

    directory: Path
    environment: dict[str, str]

    def run(self, *options: str, plan: str = "conf/small.yaml") -> subprocess.CompletedProcess:
        return self.call("./run.sh", "--plan", plan, *DATA, *SPEAK, *options)

    def call(self, *command: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            command,
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture(scope="session")
def recipe(tmp_path_factory) -> Recipe:
    """The recipe beside a TEMPLATE link, as in anybody's ESPnet: no project around it."""
    template = PROJECT / "egs2/TEMPLATE"
    if not template.exists():
        pytest.fail("egs2/TEMPLATE is missing: run scripts/setup.sh (make test does)")
    root = tmp_path_factory.mktemp("espnet")
    directory = root / RECIPE
    directory.mkdir(parents=True)
    (root / "egs2/TEMPLATE").symlink_to(template.resolve())
    (root / "tools").mkdir()
    (root / "tools/extra_path.sh").touch()
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=PROJECT / RECIPE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        source, target = PROJECT / RECIPE / name, directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name == "conf/plans":  # its target lies outside the recipe
            target.symlink_to(PROJECT / "conf/plans")
        elif source.is_symlink():
            target.symlink_to(source.readlink())
        else:
            target.write_bytes(source.read_bytes())
            target.chmod(source.stat().st_mode)
    (directory / "conf/small.yaml").write_text(PLAN)
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT),
    }
    environment.pop("CTCREP_VENV", None)
    return Recipe(directory, environment)
