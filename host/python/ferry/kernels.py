"""Kernels that are files: C and others, and networks; and their export to C programs."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

from ferry import _ferry

File = Union[str, "os.PathLike[str]"]


class Kernel(NamedTuple):
    """A kernel in a file with what has to be known to compile it: c() makes it, and compile() takes it."""

    file: str
    signature: str = ""
    cflags: str = ""
    launch: str = ""

    def on(self, device: _ferry.Device) -> _ferry.Function:
        """Compiles it for a device, and returns its only function."""
        module = device.compile(self)
        return module[_only(module.functions, self.file)]


class Network(NamedTuple):
    """A network in a file; onnx() makes it, and compile() takes it."""

    file: str
    bindings: tuple[str, ...] = ()
    winograd: bool = True

    def on(self, device: _ferry.Device, *, fix: Mapping[str, int] | None = None,
           sizes: Mapping[str, int] | None = None) -> RunningNetwork:  # fmt: skip
        """Compiles it for a device. `fix` are sizes that the code is compiled for alone, such as {"batch": 1}; `sizes` only
        say for which it is made fast."""
        module = device.compile(self, fix=fix, sizes=sizes)
        return RunningNetwork(module, module[_only(module.functions, self.file)])


class RunningNetwork:
    """A network that a device has loaded, with inputs and outputs by their names in the file."""

    def __init__(self, module: _ferry.Module, function: _ferry.Function) -> None:
        self.module, self.function = module, function

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs, in their order."""
        return self.function.inputs

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs, in their order."""
        return self.function.outputs

    def __call__(self, *inputs: Any, **named: Any) -> dict[str, _ferry.Tensor]:
        """The outputs by name, as tensors of the device, for inputs in their order or by name."""
        results = self.function(*inputs, **named)
        every: Sequence[Any] = results if isinstance(results, tuple) else (results,)
        return dict(zip(self.outputs, every))

    def batches(self, size: int, *inputs: Any, **named: Any) -> Iterator[dict[str, Any]]:
        """The outputs as NumPy's arrays for `size` rows of the inputs after another, which may be longer than memory.

        All inputs have the same number of rows along their first dimension, and the network has any number there. The last
        batch may be smaller.
        """
        given = {**dict(zip(self.inputs, inputs)), **named}
        if size < 1:
            raise ValueError(f"expected batches of at least 1 row, got {size}")
        lengths = {name: len(value) for name, value in given.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"expected inputs with the same number of rows, got {lengths}")
        for begin in range(0, next(iter(lengths.values())), size):
            part = {name: value[begin : begin + size] for name, value in given.items()}
            yield {name: tensor.numpy() for name, tensor in self(**part).items()}

    def bench(self, *inputs: Any, **options: Any) -> _ferry.Measurement:
        """Function.bench()."""
        return self.function.bench(*inputs, **options)


def _only(functions: list[str], file: str) -> str:
    if len(functions) != 1:
        raise ValueError(f"{file}: expected one function, got {', '.join(functions)}: compile it, and choose one")
    return functions[0]


def c(file: File, signature: str = "", *, cflags: str = "", launch: str = "") -> Kernel:
    """A kernel in C, C++, CUDA C, LLVM IR, assembly or an object: ferry.c("saxpy.c", "saxpy(i64 n, f32 a, in f32[n] x, inout f32[n] y)").

    signature: how to call it (docs/c_kernel.md); without one, the comment `// ferry: ...` in the file says it.
    cflags: for its compiler, separated by spaces: "-O3 -ffast-math". C needs a clang, version 14 or newer.
    launch: for CUDA C, the blocks and threads (docs/gpu.md).
    """
    return Kernel(os.fspath(file), signature, cflags, launch)


def onnx(file: File, *, bindings: Mapping[str, File] | None = None, winograd: bool = True) -> Network:
    """A network in ONNX's format (docs/networks.md): net = ferry.onnx("net.onnx").on(device); net(x=array)["scores"].

    bindings: files of NumPy (.npy) for inputs that are the same in every call, where shapes depend on them.
    winograd: whether convolutions may be computed by Winograd's algorithm, which rounds differently.
    """
    bound = tuple(f"{name}=@{os.fspath(path)}" for name, path in (bindings or {}).items())
    return Network(os.fspath(file), bound, winograd)


def export(
    source: Any,
    folder: File,
    *,
    target: str = "host",
    name: str = "",
    fix: Mapping[str, int] | None = None,
    sizes: Mapping[str, int] | None = None,
    archive: bool = False,
    shared: bool = False,
    weights: bool = False,
) -> list[Path]:
    """Writes a kernel or a network as an object with a C header and an example, for programs without ferry (docs/export.md).

    source: a text, the path of a file, or a network of onnx().
    folder: is made if there is none.
    name: of the files and the C functions; the function's by default.
    fix: sizes that are constants of the code. sizes: those of the example, for which it is made fast.
    archive, shared: a library libNAME.a or libNAME.so in place of objects. weights: a network's in a file of their own.
    Returns the files. Raises CompileError and UsageError.
    """
    import json

    from ferry import commands  # only here, as they take a while

    if isinstance(source, Network):
        kernel = [source.file, *commands.repeated("--bind", source.bindings), "--winograd", "on" if source.winograd else "off"]
    else:
        kernel = commands.kernel_words(source)
    words = ["export", *kernel, "--output", os.fspath(folder), "--target", target, "--json"]
    words += commands.pairs("--fix", fix) + commands.pairs("--size", sizes)
    words += ["--name", name] if name else []
    words += [option for option, is_on in (("--archive", archive), ("--shared", shared), ("--weights", weights)) if is_on]
    found = json.loads(commands.run(words))
    return [Path(found["folder"]) / file["name"] for file in found["files"]]
