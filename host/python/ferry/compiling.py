"""Compiling kernels, for a device or for a target."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from ferry import _ferry
from ferry.kernels import Kernel, Network
from ferry.schedules import Program, Schedule

Source = Union[str, "os.PathLike[str]", Kernel, Network, Program, Schedule]


def _pairs(values: Mapping[str, object] | None) -> list[str]:
    return [f"{name}={value}" for name, value in (values or {}).items()]


def _compiled(source: Program | Schedule, target: str, sizes: Mapping[str, int] | None, options: Mapping[str, Any]) -> _ferry.CompiledModule:
    """A program or a schedule of ferry.te, for which most options have no meaning."""
    if unknown := sorted(name for name, value in options.items() if value and name not in ("knobs", "schedule")):
        raise _unexpected(unknown[0], source)
    if isinstance(source, Program) and options.get("schedule"):
        source = Schedule(source, options["schedule"])
    if isinstance(source, Program):
        source = source.default_schedule(target, sizes)
    return source.at(**(options.get("knobs") or {})).compile(target)


def _unexpected(option: str, source: Program | Schedule) -> Exception:
    return TypeError(f"expected no {option} for {source!r}")


def _options(
    source: Union[str, "os.PathLike[str]", Kernel, Network],
    function: str = "",
    schedule: str = "",
    knobs: Mapping[str, object] | None = None,
    point: str = "",
    signature: str = "",
    cflags: str = "",
    fix: Mapping[str, int] | None = None,
    name: str = "",
    launch: str = "",
) -> _ferry._KernelOptions:
    network = source if isinstance(source, Network) else None
    if isinstance(source, Kernel):
        signature, cflags = signature or source.signature, cflags or source.cflags
        launch = launch or source.launch
    if isinstance(source, (Kernel, Network)):
        source = Path(source.file)
    return _ferry._KernelOptions.make(
        "" if isinstance(source, str) else os.fspath(source),
        source if isinstance(source, str) else "",
        name,
        function,
        schedule,
        _pairs(knobs),
        [point] if point else [],
        signature,
        cflags,
        [",".join(_pairs(fix))] if fix else [],
        launch,
        list(network.bindings) if network else [],
        network.winograd if network else True,
    )


def compile(
    source: Source,
    target: str = "host",
    *,
    function: str = "",
    schedule: str = "",
    knobs: Mapping[str, object] | None = None,
    point: str = "",
    signature: str = "",
    cflags: str = "",
    launch: str = "",
    fix: Mapping[str, int] | None = None,
    sizes: Mapping[str, int] | None = None,
    name: str = "",
) -> _ferry.CompiledModule:
    """Compiles on this machine, for any target that `ferry targets` lists.

    source: a text in ferry's notation (docs/language.md), the path of a file (K.tc, C, C++, LLVM IR, assembly, an object
        or a network, NET.onnx), ferry.c(), ferry.onnx(), or a program of ferry.te or its schedule.
    function: the only function that is compiled; all of a text otherwise.
    schedule: directives (docs/schedules.md); the default schedule otherwise. `knobs` are the values of its $NAMES.
    point: values for knobs of the default schedule, "C: tile=4x2".
    signature, cflags: of a kernel in another language, "saxpy(i64 n, f32 a, in f32[n] x, inout f32[n] y)".
    launch: of a kernel in CUDA C, "grid=(n + 255) / 256, block=256" (docs/gpu.md).
    fix: sizes that the code is compiled for alone. `sizes` only say for which the default schedule is chosen.
    name: what messages call the text.
    Raises CompileError, or UsageError for options that do not fit.
    """
    if isinstance(source, (Program, Schedule)):
        given = {"function": function, "schedule": schedule, "knobs": knobs, "point": point, "signature": signature,
                 "cflags": cflags, "launch": launch, "fix": fix, "name": name}  # fmt: skip
        return _compiled(source, target, sizes, given)
    options = _options(source, function, schedule, knobs, point, signature, cflags, fix, name, launch)
    return _ferry._compile(options, target, _pairs(sizes))


def compile_for(
    device: _ferry.Device, source: Source, *, sizes: Mapping[str, int] | None = None, **options: Any
) -> _ferry.Module:
    """Device.compile()."""
    if isinstance(source, (Program, Schedule)):
        return device.load(_compiled(source, device.target, sizes, options))
    return device._compile(_options(source, **options), _pairs(sizes))
