"""The kernels compile for sm_80 and sm_90 and hold no atomic operation; the search finds some.

Compiled without a GPU: this says what the code is, not what it computes.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from espnet_ctcrep.ctc import machine_code as mc

arch = int(sys.argv[1])
kernels = [mc.compile_control(arch)]
for batch in [
    dict(longest=60, columns=30, classes=200),
    dict(longest=200, columns=60, classes=5000),
    dict(longest=1024, columns=500, classes=200_000),
    dict(longest=60, columns=30, classes=200, dtype="fp64"),
    dict(longest=1, columns=1, classes=1, ones=True),
]:
    kernels += mc.compile_fused(arch, **batch)
print(json.dumps([[k.name, k.atomics, "EXIT" in k.sass, ".entry" in k.ptx] for k in kernels]))
"""


def compiled(program: str, *arguments: str) -> list:
    """What a program prints as JSON, run where Triton compiles instead of interpreting."""
    import json

    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("arch", ["80", "90"])
def test_the_fused_kernels_have_no_atomics_and_the_control_has(arch):
    (control, *kernels) = compiled(PROGRAM, arch)
    assert control[0].startswith("control"), control
    ptx, sass = control[1]
    assert ptx.startswith("atom.") and "add.f32" in ptx
    assert sass.startswith(("ATOM", "RED")) and "ADD.F32" in sass
    assert len(kernels) == 10
    for name, atomics, has_sass, has_ptx in kernels:
        assert has_sass and has_ptx, f"{name} was not disassembled"
        assert atomics == [], name


def test_pytorchs_native_backward_has_an_atomic_addition_and_its_forward_has_none():
    """The forward kernels are what `deterministic_impl: aten` is made of."""
    program = """
import json
from espnet_ctcrep.ctc import machine_code as mc
kernels = [mc.library_kernel(name) for name in (mc.FORWARD, mc.NATIVE_BACKWARD)]
print(json.dumps([[k.atomics, "EXIT" in k.sass] for k in kernels]))
"""
    import torch

    if torch.version.cuda is None:
        pytest.skip("this PyTorch is built without CUDA and has no such kernels")
    (forward, disassembled), (backward, also) = compiled(program)
    assert disassembled and also
    assert forward == []
    assert len(backward) == 1 and backward[0].startswith("REDG.E.ADD.F32")


def test_the_search_tells_atomics_from_their_namesakes():
    from espnet_ctcrep.ctc.machine_code import ptx_atomics, sass_atomics

    ptx = "\tatom.global.add.f32 %f1, [%rd1], %f2;\n@%p1 red.global.add.f32 [%rd1], %f2;\n"
    assert ptx_atomics(ptx) == ["atom.global.add.f32", "red.global.add.f32"]
    assert ptx_atomics("\tredux.sync.max.s32 %r1, %r2, -1;\n// shared.red.x\n mov.pred %p;") == []
    sass = "/*0a*/ RED.E.ADD.F32 [R2], R5 ;\n ATOMS.ADD R1, [R2], R3 ;\n REDUX.MAX.S32 UR4, R2 ;\n"
    assert sass_atomics(sass) == ["ATOMS.ADD", "RED.E.ADD.F32"]
