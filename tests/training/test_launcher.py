"""The launcher is the interpreter for everything but ASR training."""

import subprocess
import sys

import pytest

from espnet_ctcrep.training.launcher import split_interpreter_options

pytestmark = pytest.mark.train


def launch(*argv: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "espnet_ctcrep", *argv], capture_output=True, text=True, **kwargs
    )


def test_runs_code_as_the_interpreter_does():
    done = launch("-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "a b", "*")
    assert done.returncode == 7
    assert done.stdout == "['a b', '*']\n"


def test_runs_a_script_with_its_own_name_and_arguments(tmp_path):
    script = tmp_path / "it's a script.py"
    script.write_text("import sys; print(__name__, sys.argv)")
    done = launch(str(script), "x", "--y=1")
    assert done.stdout == f"__main__ {[str(script), 'x', '--y=1']}\n"


def test_runs_a_module_and_passes_interpreter_options_on():
    done = launch("-X", "utf8=1", "-m", "json.tool", "--compact", input='{"a": [1]}')
    assert done.stdout == '{"a":[1]}\n'


def test_reads_a_program_from_standard_input():
    assert launch("-", "arg", input="import sys; print(sys.argv)").stdout == "['-', 'arg']\n"


def test_interpreter_options_end_where_the_program_begins():
    assert split_interpreter_options(["-u", "-X", "utf8", "-m", "mod", "-u"]) == (
        ["-u", "-X", "utf8"],
        ["-m", "mod", "-u"],
    )
    assert split_interpreter_options(["script.py", "-m", "x"]) == ([], ["script.py", "-m", "x"])


@pytest.mark.parametrize("options", [[], ["-u"]])
def test_training_is_ours_even_behind_interpreter_options(options):
    done = launch(*options, "-m", "espnet2.bin.asr_train", "--help")
    assert done.returncode == 0
    assert "--noise_seed" in done.stdout


def test_other_espnet_programs_are_untouched():
    done = launch("-m", "espnet2.bin.aggregate_stats_dirs", "--help")
    assert done.returncode == 0
    assert "--noise_seed" not in done.stdout
    assert "--skip_sum_stats" in done.stdout
