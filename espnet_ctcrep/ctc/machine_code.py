"""Atomic operations in compiled CUDA code: our kernels' and PyTorch's, found without a GPU."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from espnet_ctcrep.ctc import fused

__all__ = [
    "ARCHITECTURES",
    "FORWARD",
    "NATIVE_BACKWARD",
    "CompiledKernel",
    "compile_control",
    "compile_fused",
    "library_kernel",
    "ptx_atomics",
    "sass_atomics",
]

ARCHITECTURES = (80, 90)  # A100, and H100 or H200
WARP_SIZE = 32

# PyTorch's kernels: the forward one, and the native backward's for problems of any real size.
FORWARD = "ctc_loss_log_alpha_gpu_kernel"
NATIVE_BACKWARD = "ctc_loss_backward_collect_nonblank_gpu_kernel"

_POINTERS = {
    "targets": "*i64",
    "input_lengths": "*i32",
    "target_lengths": "*i32",
    "classes": "*i64",
    "order": "*i64",
    "starts": "*i64",
    "counts": "*i64",
    "in_target": "*u8",
}
_FLOATS = ("log_probs", "blank_log_probs", "grad", "grad_losses", "variables", "losses", "out")


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel compiled for one architecture."""

    name: str
    ptx: str
    sass: str

    @property
    def atomics(self) -> list[str]:
        """The atomic instructions in it, of PTX and of SASS, each named once."""
        return ptx_atomics(self.ptx) + sass_atomics(self.sass)


def ptx_atomics(ptx: str) -> list[str]:
    """Names of the atomic and reduction instructions in PTX text."""
    return sorted(set(re.findall(r"(?:^|[\s}])((?:atom|red)\.[\w.:]+)", ptx)))


def sass_atomics(sass: str) -> list[str]:
    """Names of the atomic instructions in SASS text; REDUX, a reduction in a warp, is none."""
    return sorted(
        set(re.findall(r"\b((?:RED|REDG|REDS|ATOM|ATOMG|ATOMS)(?:\.[\w.]+)?)(?=\s)", sass))
    )


def _cuobjdump() -> str:
    path = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; install Triton's Linux wheel")
    return str(path)


def _compile(name: str, kernel, constants: dict, dtype: str, arch: int, warps: int):
    signature = {
        argument: "constexpr"
        if argument in constants
        else f"*{dtype}"
        if argument in _FLOATS
        else _POINTERS.get(argument, "i32")
        for argument in kernel.arg_names
    }
    compiled = triton.compile(
        ASTSource(fn=kernel, signature=signature, constexprs=constants),
        target=GPUTarget("cuda", arch, WARP_SIZE),
        options={"num_warps": warps},
    )
    with tempfile.NamedTemporaryFile(suffix=".cubin") as f:
        f.write(compiled.asm["cubin"])
        f.flush()
        sass = subprocess.run(
            [_cuobjdump(), "-sass", f.name], capture_output=True, text=True, check=True
        ).stdout
    return CompiledKernel(f"{name} sm_{arch}", compiled.asm["ptx"], sass)


def compile_fused(
    arch: int, longest: int, columns: int, classes: int, dtype: str = "fp32", ones: bool = False
) -> list[CompiledKernel]:
    """Compile the fused kernels as they are launched for such a batch.

    `ones` compiles what Triton makes of a batch in which every size and the vocabulary's stride
    is 1, which it treats as constants; else only that stride is.
    """
    shape = fused.launch_shape(longest, columns, classes)
    sizes = ["stride_v"]
    if ones:
        sizes += ["B", "T", "L", "V", "K", "repeats", "grad_stride_v", "stride_t", "stride_b"]
    blocks = {"BLOCK": shape.block_states, "KEEP": True}
    label = f"{dtype} L={longest} V={classes}"
    kernel = fused._recursions
    constants = {n: 1 for n in sizes if n in kernel.arg_names} | blocks
    recursions = _compile(
        f"recursions {label}", kernel, constants, dtype, arch, shape.warps_recursion
    )
    blocks = {
        "ZERO_INFINITY": True,
        "BLOCK_L": shape.block_states,
        "BLOCK_K": shape.block_columns,
        "BLOCK_V": shape.block_classes,
    }
    kernel = fused._gradient
    constants = {n: 1 for n in sizes if n in kernel.arg_names} | blocks
    gradient = _compile(f"gradient {label}", kernel, constants, dtype, arch, shape.warps_gradient)
    return [recursions, gradient]


@triton.jit
def _atomic_control(losses, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + i % 2, tl.load(losses + i))


def compile_control(arch: int) -> CompiledKernel:
    """A kernel that does add with atomics: what the search must be able to find."""
    return _compile("control", _atomic_control, {"BLOCK": 128}, "fp32", arch, 4)


def library_kernel(name: str, arch: int = 90) -> CompiledKernel:
    """A CTC kernel of the installed PyTorch, float32 with int64 targets, as machine code.

    `name` as in PyTorch's LossCTC.cu. Reads libtorch_cuda.so with the disassembler that Triton
    brings. Raises LookupError if there is no such kernel, as in a PyTorch built without CUDA.
    """
    library = Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
    if not library.is_file():
        raise LookupError(f"{library} does not exist: this PyTorch was built without CUDA")
    # The template arguments <float, long> are "IflEE" in a mangled name.
    pattern = rf"_ZN[A-Za-z0-9_]*{name}IflEE[A-Za-z0-9_]*"
    found = subprocess.run(
        ["grep", "-aoE", pattern, str(library)], capture_output=True, text=True, check=False
    ).stdout.split()
    # Longer ones are the names of things made for the kernel.
    for mangled in sorted(set(found), key=len):
        sass = subprocess.run(
            [_cuobjdump(), "-sass", "-arch", f"sm_{arch}", "-fun", mangled, str(library)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a warning for each of the library's many parts
            text=True,
            check=False,
        ).stdout
        if mangled in sass:
            return CompiledKernel(f"{name} sm_{arch}", "", sass)
    raise LookupError(f"{library} has no kernel {name} for sm_{arch}")
