"""Compiles tensor kernels on this machine, and runs and times them here or on another one.

    import ferry, numpy as np
    pi = ferry.connect("ssh://pi")  # or farm://lab/rpi4, or nothing for this machine
    mm = pi.compile("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")["mm"]
    C = mm(A, B).numpy()
    mm.bench(A, B)
"""
# pyright: reportPrivateUsage=false
from __future__ import annotations

import os.path
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

# The wheels ferry and ferry-client are this package with a compiler and without one. The file that only ferry-client has
# beside what only ferry has means that both are installed, and each has overwritten files of the other.
if os.path.exists(os.path.join(os.path.dirname(__file__), "ferry-client.txt")) and os.path.exists(
    os.path.join(os.path.dirname(__file__), "lib")
):
    raise ImportError(
        "the wheels ferry and ferry-client are both installed here, but only one can be: "
        "pip uninstall ferry ferry-client, then pip install one of them"
    )

from ferry import testing
from ferry._ferry import (
    BoundCall,
    CheckReport,
    Comparison,
    CompiledModule,
    Device,
    Function,
    Measurement,
    Module,
    Tensor,
    _connect,
    _has_compiler,
    _version as __version__,
)
from ferry.compiling import compile
from ferry.errors import CompileError, ConnectionLost, Error, KernelFailed, LimitExceeded, UsageError
from ferry.kernels import Kernel, Network, RunningNetwork, c, export, onnx
from ferry.leases import Lease, lease
from ferry.measurements import check, compare

if TYPE_CHECKING or _has_compiler:
    from ferry import te

if TYPE_CHECKING:
    from ferry import aio, commands
    from ferry.sweeps import Sweep, sweep
    from ferry.tuning import Trial, Tuned, tune
    from ferry.verdicts import GateReport, Verdict, gate

# Names that are loaded when they are used, because they take as long as the rest of the package, and their modules.
_LATER = {
    "aio": "", "commands": "", "GateReport": "verdicts", "Sweep": "sweeps", "Trial": "tuning", "Tuned": "tuning",
    "Verdict": "verdicts", "gate": "verdicts", "sweep": "sweeps", "tune": "tuning",
}  # fmt: skip

__all__ = [
    "BoundCall",
    "CheckReport",
    "Comparison",
    "CompileError",
    "CompiledModule",
    "ConnectionLost",
    "Device",
    "Error",
    "Function",
    "GateReport",
    "Kernel",
    "KernelFailed",
    "Lease",
    "LimitExceeded",
    "Measurement",
    "Module",
    "Network",
    "RunningNetwork",
    "Sweep",
    "Tensor",
    "Trial",
    "Tuned",
    "UsageError",
    "Verdict",
    "__version__",
    "aio",
    "c",
    "check",
    "commands",
    "compare",
    "compile",
    "connect",
    "export",
    "gate",
    "lease",
    "onnx",
    "sweep",
    "te",
    "testing",
    "tune",
]

if not _has_compiler:
    __all__.remove("te")


def __getattr__(name: str) -> Any:
    if name == "te":
        import_module("ferry.te")  # says that it takes a compiler
    if name not in _LATER:
        raise AttributeError(f"module 'ferry' has no attribute {name!r}")
    module = import_module(f"ferry.{_LATER[name] or name}")
    value = getattr(module, name) if _LATER[name] else module
    globals()[name] = value
    return value


def connect(address: str = "", *, key_file: str = "", devices: Sequence[str] = (), queue: float = 0) -> Device:
    """Connects to a device.

    address: a name in ~/.config/ferry/devices.toml, "HOST:PORT", "ssh://USER@HOST", "farm://FARM/SELECTOR"; without
        one, a private server on this machine, which ends with the device. "inproc://" is this process: arrays are used
        where they lie and calls take a microsecond, but a kernel that crashes ends the process.
    key_file: the key to use, in place of the one that belongs to the address.
    devices: what besides the CPU will be used: "opencl", "cuda".
    queue: seconds to wait for a place; 0: as long as it takes.
    Raises Error with the code "unavailable" if there is no answer, and "unauthenticated" if the key is unknown.
    """
    return _connect(address, key_file, list(devices), queue, None)
