"""The package as a whole: what imports without torch, what documents promise."""

import ast
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import espnet_ctcrep

PROJECT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(espnet_ctcrep.__path__, "espnet_ctcrep.")
    if not m.name.endswith("__main__")
)
# Rooms that a person with a table of scores needs, and nothing else.
LIGHT = ("cli", "determinism.streams", "plans", "report", "scoring", "stats", "utils")
BLOCK = """
import importlib, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "espnet", "espnet2", "s3prl", "transformers"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Block())
"""
DOCUMENTS = sorted(
    p
    for pattern in ("*.md", "docs/**/*.md", "egs2/ml_superb6/**/*.md")
    for p in PROJECT.glob(pattern)
)


def is_light(module: str) -> bool:
    inner = module.removeprefix("espnet_ctcrep.")
    return any(inner == room or inner.startswith(f"{room}.") for room in LIGHT)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_can_be_imported(module):
    names = getattr(importlib.import_module(module), "__all__", [])
    exec(f"from {module} import *", {})
    assert all(isinstance(name, str) for name in names)
    assert names == [] or len(set(names)) == len(names)


def test_scores_become_a_report_with_no_torch_installed(tmp_path):
    rows = ["arm,replicate,language,edits,chars,status,seed"]
    for arm, edits in (("A", (100, 110, 120)), ("B", (80, 95, 90))):
        rows += [f"{arm},{k},eng,{e},1000,ok,{7 + k}" for k, e in enumerate(edits)]
    (tmp_path / "scores of mine.csv").write_text("\n".join(rows) + "\n")
    light = [m for m in MODULES if is_light(m)]
    code = BLOCK + f"for m in {light!r}: importlib.import_module(m)\n"
    code += "from espnet_ctcrep.cli import main; main()"
    options = ["--scores", "scores of mine.csv", "--baseline", "A", "--candidate", "B"]
    done = subprocess.run(
        [sys.executable, "-c", code, "report", *options, "--out", "it's out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "it's out/report.html").exists()
    assert "lower is better" in done.stdout


def test_help_comes_without_the_slow_libraries():
    code = "import sys; sys.argv = ['ctcrep', '--help']\n"
    code += "from espnet_ctcrep.cli import app\n"
    code += "try: app()\nexcept SystemExit: pass\n"
    code += "print([m for m in ('torch', 'matplotlib', 'scipy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("path", sorted((PROJECT / "espnet_ctcrep").rglob("*.py")), ids=str)
def test_a_module_opens_with_a_sentence(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(PROJECT)))
def test_relative_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def commands(document: Path) -> list[str]:
    """Lines of the document's `sh` blocks, continued lines joined, without comments."""
    blocks = re.findall(r"```sh\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line.split(" #")[0].strip() for line in lines if line.strip() and line[0] != "#"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(PROJECT)))
def test_commands_in_documents_exist_with_their_options(document):
    """Each `make` target, script and `ctcrep` option that a document shows is there."""
    makefile = (PROJECT / "Makefile").read_text()
    recipe = PROJECT / "egs2/ml_superb6/asr1"
    for command in commands(document):
        words = [w for w in shlex.split(command) if not re.fullmatch(r"[A-Z_]+=.*", w)]
        program, options = words[0], [w.split("=")[0] for w in words if w.startswith("--")]
        if program == "make":
            for target in words[1:]:
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), command
        elif program == "ctcrep":
            shown = subprocess.run(
                [sys.executable, "-m", "espnet_ctcrep.cli", words[1], "--help"],
                capture_output=True,
                text=True,
                env={"COLUMNS": "300", "PATH": "", "PYTHONPATH": str(PROJECT)},
                check=True,
            ).stdout
            for option in options:
                assert re.search(rf"{option}\b", shown), command
        elif program.endswith("run.sh"):
            text = (recipe / "run.sh").read_text()
            for option in options:
                name = option.removeprefix("--")
                assert re.search(rf"^{name}=", text, re.MULTILINE), command
        elif program in ("bash", "scripts/setup.sh", "python3"):
            script = next((w for w in words if "/" in w), program)
            assert (PROJECT / script).exists(), command
        else:
            assert program in ("cd", "pip", "git", "export"), f"not checked: {command}"
