from collections.abc import Mapping, Sequence
import os
from typing import Any

import ferry.kernels
import ferry.schedules


_version: str = '0.1.0'

_has_compiler: bool = True

class Tensor:
    """Memory of a device, which is freed with the last reference."""

    @property
    def shape(self) -> object:
        """Sizes of the dimensions."""

    @property
    def dtype(self) -> str:
        """The type of the elements: "f32", "bf16", "i64", "bool"."""

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes."""

    def numpy(self) -> object:
        """
        Copies the elements into an array of NumPy. A tensor of this process ("inproc://"), and one of 128 KiB or more of the local server, becomes an array that shares its memory instead, with what later calls write. Those of bf16 have the type bfloat16 of ml_dtypes, which has to be installed, and are copied.
        """

    def __array__(self, dtype: object | None = None, copy: object | None = None) -> object: ...

    def __dlpack__(self, **how: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __repr__(self) -> str: ...

    def write(self, array: object) -> None:
        """
        Copies an array of the same shape and type of elements into the tensor. Raises UsageError if they differ.
        """

class CompiledModule:
    """Compiled functions, which any device of their target can load."""

    @staticmethod
    def open(file: str) -> CompiledModule:
        """Reads a .ferry file."""

    def save(self, file: str) -> None:
        """Writes a .ferry file."""

    @property
    def functions(self) -> list[str]:
        """Names of the functions, in order."""

    @property
    def source(self) -> str:
        """The text that was compiled."""

    @property
    def schedule(self) -> str:
        """The schedules of all functions, the default ones included."""

class Module:
    """Functions that a device has loaded."""

    def __getitem__(self, name: str) -> Function: ...

    @property
    def compiled(self) -> CompiledModule:
        """The module as it was compiled."""

    @property
    def functions(self) -> list[str]:
        """Names of the functions, in order."""

class BoundCall:
    """A function with its arguments."""

    def __call__(self) -> Any:
        """Calls the function, and returns what `out` was, or else its results."""

class Function:
    """
    A function of a device. Call it with arrays, tensors of the device and numbers, in the order of its inputs or by name.
    """

    def __call__(self, *args: Any, **named: Any) -> Any:
        """
        Calls it. `out`, an array or a tensor for each output, is where the results go; otherwise they are new tensors of the device.

        Raises TypeError for arguments of the wrong kind, UsageError for those of wrong types and sizes, and KernelFailed.
        """

    def bind(self, *args: Any, **named: Any) -> BoundCall:
        """
        Prepares calls with these arguments, those of a call: `f = mm.bind(A, B, out=C); f()`.

        Each call reads the arrays as they are then. In this process ("inproc://") it takes no time beside the kernel's, and without `out` all calls write the same tensors. Elsewhere arrays are sent with each call, and tensors of the device are not.
        """

    def bench(self, *args: Any, repeat: int = 40, min_repeat_ms: float = 10, threads: int = 0, cold: bool = False, warm: bool = False, peak: bool = True, **named: Any) -> Measurement:
        """
        Measures calls with these arguments on the device, as `ferry bench` does.

        repeat: samples, each of at least `min_repeat_ms` milliseconds; more are taken until the median is known to 1%.
        threads: the most that parallel loops use; 0: as many as the device has.
        cold: with empty caches before each sample. warm: with the same inputs in each call, in place of new ones.
        peak: the device's peak rates are measured too, for the shares of them.
        """

    @property
    def name(self) -> str:
        """Its name in the text."""

    @property
    def signature(self) -> str:
        """Such as "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)"."""

    @property
    def inputs(self) -> list[str]:
        """Names of the parameters that a call takes, in this order."""

    @property
    def outputs(self) -> list[str]:
        """Names of the tensors that a call returns, in this order."""

    @property
    def last_seconds(self) -> float:
        """
        How long the last call ran on the device, in seconds; bench() measures.
        """

class Measurement:
    """Times of a function on a device, and how they were taken."""

    @property
    def function(self) -> str:
        """The function's name."""

    @property
    def signature(self) -> str:
        """Its parameters."""

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the call by name."""

    @property
    def knobs(self) -> dict[str, str]:
        """
        The values of the schedule's knobs by name; "point": those of the default schedule.
        """

    @property
    def device(self) -> str:
        """The device's name."""

    @property
    def processor(self) -> str:
        """The processor that ran the function."""

    @property
    def target(self) -> str:
        """The target that it was compiled for."""

    @property
    def seconds(self) -> list[float]:
        """Seconds a call, of each sample."""

    @property
    def median(self) -> float:
        """The median of the samples, in seconds."""

    @property
    def minimum(self) -> float:
        """The least sample, in seconds."""

    @property
    def first_call(self) -> float:
        """
        Seconds of the first call in its process; 0 if the device does not say.
        """

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the median, in seconds."""

    @property
    def instructions(self) -> float:
        """
        Instructions of a call; not a number where the device does not count them.
        """

    @property
    def flops(self) -> float:
        """Operations of a call; 0: unknown."""

    @property
    def bytes(self) -> float:
        """
        Bytes that a call reads and writes, each tensor counted once; 0: unknown.
        """

    @property
    def share_of_flops(self) -> float | None:
        """
        The rate of operations over the device's measured peak; None if that was not measured.
        """

    @property
    def share_of_bytes(self) -> float | None:
        """
        The rate of bytes over the device's measured peak; None if that was not measured.
        """

    @property
    def inputs(self) -> str:
        """
        "fresh": each call had inputs that it had not seen; "repeated" or "restored": the same ones.
        """

    @property
    def cache(self) -> str:
        """The state of the caches before a sample: "warm", "flushed" or "wiped"."""

    @property
    def isolation(self) -> str:
        """
        How the function was kept away from what measured it: "notify", "trace", "pipe" or "none".
        """

    @property
    def impossible(self) -> str:
        """Why the times cannot be true; empty if they can."""

    @property
    def warnings(self) -> list[str]:
        """Why the times should not be trusted, in sentences."""

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str: ...

    def plot(self) -> Any:
        """
        Draws the samples in order, with the median and its interval, with matplotlib; returns the axes.
        """

class Comparison:
    """Which of two functions is faster, and by how much."""

    @property
    def verdict(self) -> str:
        """"a slower", "b slower", "no difference" or "unknown"."""

    @property
    def ratio(self) -> float:
        """The time of a over that of b: the geometric mean over the processes."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 99% confidence interval of the ratio."""

    @property
    def ratios(self) -> list[float]:
        """The ratio in each process."""

    @property
    def medians(self) -> tuple[float, float]:
        """Seconds a call of a and of b."""

    @property
    def difference(self) -> str:
        """
        How the results differ, or one is wrong by definition; empty if neither.
        """

    @property
    def impossible(self) -> str:
        """Why the times cannot be true; empty if they can."""

    @property
    def warnings(self) -> list[str]:
        """Why the result should not be trusted, in sentences."""

    def _text(self, arg: float, /) -> str: ...

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str: ...

    def plot(self) -> Any:
        """Draws the ratio in each process, with matplotlib; returns the axes."""

class CheckReport:
    """What a call computed, against its definition."""

    @property
    def is_fine(self) -> bool: ...

    @property
    def mistake(self) -> str:
        """
        The first mistake, such as "C[3,4] is 1.5, expected 1.25"; empty if there is none.
        """

    @property
    def warnings(self) -> list[str]:
        """Why the check says little, in sentences."""

    def __repr__(self) -> str: ...

class _CallOptions:
    @staticmethod
    def make(arg0: Sequence[str], arg1: Sequence[str], arg2: int, /) -> _CallOptions: ...

def _bench(function: Function, *given: Any, repeat: int, min_repeat_ms: float, threads: int, cold: bool, warm: bool, peak: bool, **named: Any) -> Measurement: ...

def _check(arg0: Function, arg1: _CallOptions, arg2: bool, /) -> CheckReport: ...

def _check_results(arg0: Function, arg1: _CallOptions, arg2: Sequence[str], arg3: bool, arg4: float | None, arg5: float | None, /) -> CheckReport: ...

def _compare(arg0: Function, arg1: Function, arg2: _CallOptions, arg3: int, arg4: float, arg5: int, arg6: bool, /) -> Comparison: ...

def _sweep(arg0: Function, arg1: _CallOptions, arg2: Sequence[str], arg3: int, arg4: float, arg5: int, arg6: bool, arg7: bool, arg8: bool, /) -> tuple[list[Measurement], list[str]]: ...

class _KernelOptions:
    @staticmethod
    def make(arg0: str, arg1: str, arg2: str, arg3: str, arg4: str, arg5: Sequence[str], arg6: Sequence[str], arg7: str, arg8: str, arg9: Sequence[str], arg10: str, arg11: Sequence[str], arg12: bool, /) -> _KernelOptions: ...

def _compile(arg0: _KernelOptions, arg1: str, arg2: Sequence[str], /) -> CompiledModule: ...

class _Board:
    pass

def _is_leased(arg: _Board, /) -> bool: ...

def _share_boards(arg0: Sequence[str], arg1: str, /) -> list[_Board]: ...

def _connect(address: str, key_file: str, devices: Sequence[str], queue: float, board: _Board | None) -> Device: ...

class Device:
    """A device, for as long as it or something of it is referred to."""

    @property
    def name(self) -> str:
        """Its address, or "this machine"."""

    @property
    def processor(self) -> str:
        """The processor that runs functions."""

    @property
    def target(self) -> str:
        """What compile() compiles for."""

    def close(self) -> None:
        """
        Ends the session at once, also if another thread waits for the device: that gets ConnectionLost or Error. A board of a farm is given back. What belongs to the session is gone. To close twice does nothing.
        """

    def __enter__(self) -> Device: ...

    def __exit__(self, *exception: object) -> None: ...

    def load(self, module: CompiledModule) -> Module:
        """Loads a module that was compiled for a device such as this."""

    def put(self, array: object) -> Tensor:
        """Copies an array to the device."""

    def empty(self, shape: Sequence[int], dtype: str = 'f32') -> Tensor:
        """Allocates a tensor."""

    def _compile(self, arg0: _KernelOptions, arg1: Sequence[str], /) -> Module: ...

    def compile(self, source: str | os.PathLike[str] | ferry.schedules.Program | ferry.schedules.Schedule | ferry.kernels.Kernel | ferry.kernels.Network, *, function: str = '', schedule: str = '', knobs: Mapping[str, object] | None = None, point: str = '', signature: str = '', cflags: str = '', launch: str = '', fix: Mapping[str, int] | None = None, sizes: Mapping[str, int] | None = None, name: str = '') -> Module:
        """
        Compiles for this device and loads the result; the parameters are those of ferry.compile().
        """

class Expr:
    """A number that a kernel computes. Its operators make expressions of it."""

    def __add__(self, other: Expr | float, /) -> Expr: ...

    def __radd__(self, other: Expr | float, /) -> Expr: ...

    def __sub__(self, other: Expr | float, /) -> Expr: ...

    def __rsub__(self, other: Expr | float, /) -> Expr: ...

    def __mul__(self, other: Expr | float, /) -> Expr: ...

    def __rmul__(self, other: Expr | float, /) -> Expr: ...

    def __truediv__(self, other: Expr | float, /) -> Expr: ...

    def __rtruediv__(self, other: Expr | float, /) -> Expr: ...

    def __floordiv__(self, other: Expr | float, /) -> Expr: ...

    def __rfloordiv__(self, other: Expr | float, /) -> Expr: ...

    def __mod__(self, other: Expr | float, /) -> Expr: ...

    def __rmod__(self, other: Expr | float, /) -> Expr: ...

    def __pow__(self, other: Expr | float, /) -> Expr: ...

    def __rpow__(self, other: Expr | float, /) -> Expr: ...

    def __and__(self, other: Expr | float, /) -> Expr: ...

    def __rand__(self, other: Expr | float, /) -> Expr: ...

    def __or__(self, other: Expr | float, /) -> Expr: ...

    def __ror__(self, other: Expr | float, /) -> Expr: ...

    def __xor__(self, other: Expr | float, /) -> Expr: ...

    def __rxor__(self, other: Expr | float, /) -> Expr: ...

    def __lshift__(self, other: Expr | float, /) -> Expr: ...

    def __rlshift__(self, other: Expr | float, /) -> Expr: ...

    def __rshift__(self, other: Expr | float, /) -> Expr: ...

    def __rrshift__(self, other: Expr | float, /) -> Expr: ...

    def __lt__(self, other: Expr | float, /) -> Expr: ...

    def __le__(self, other: Expr | float, /) -> Expr: ...

    def __gt__(self, other: Expr | float, /) -> Expr: ...

    def __ge__(self, other: Expr | float, /) -> Expr: ...

    def __eq__(self, other: object, /) -> Any: ...

    def __ne__(self, other: object, /) -> Any: ...

    def __hash__(self) -> int: ...

    def __neg__(self) -> Expr: ...

    def __pos__(self) -> Expr: ...

    def __abs__(self) -> Expr: ...

    def __invert__(self) -> Expr: ...

    def __bool__(self) -> bool: ...

    def __repr__(self) -> str: ...

    @property
    def dtype(self) -> str:
        """Its type: "f32", "i64", "bool"."""

class Axis(Expr):
    """
    An index over a range: of a tensor that is computed, or of a reduction.
    """

    @property
    def extent(self) -> Expr:
        """How many values it has."""

    @property
    def min(self) -> Expr:
        """Its first value."""

def _minimum(arg0: object, arg1: object, /) -> Expr: ...

def _maximum(arg0: object, arg1: object, /) -> Expr: ...

def _ceil_div(arg0: object, arg1: object, /) -> Expr: ...

def _var(arg0: str, arg1: str, /) -> Expr: ...

def _axis(arg0: str, arg1: object, arg2: object, /) -> Axis: ...

def _cast(arg0: str, arg1: object, /) -> Expr: ...

def _select(arg0: Expr, arg1: object, arg2: object, /) -> Expr: ...

def _if_then_else(arg0: Expr, arg1: object, arg2: object, /) -> Expr: ...

def _call(name: str, *arguments: Expr | float) -> Expr: ...

def _extern_call(name: str, *arguments: Expr | float) -> Expr: ...

def _let(arg0: str, arg1: Expr, arg2: object, /) -> Expr: ...

def _all_of(arg: Sequence[Expr], /) -> Expr: ...

def _any_of(arg: Sequence[Expr], /) -> Expr: ...

def _not(arg: Expr, /) -> Expr: ...

def _math_functions() -> list[str]: ...

class Piece:
    """A part of a larger tensor, for the definition of a function of C."""

    def __getitem__(self, index: Expr | int | tuple[Expr | int, ...], /) -> Expr:
        """The element at an index, or at as many as the piece has dimensions."""

def _piece(arg0: str, arg1: str, arg2: object, arg3: object, /) -> Piece: ...

class _Nest:
    pass

def _nest(arg0: str, arg1: Sequence[Piece], arg2: Sequence[Axis], arg3: object, arg4: object, /) -> _Nest: ...

class _Context:
    def __init__(self) -> None: ...

    def add(self, arg0: str, arg1: int, arg2: Sequence[str] | None, arg3: str, /) -> None: ...

    def add_rule(self, arg0: str, arg1: object, arg2: str, arg3: Sequence[str], arg4: int, /) -> None: ...

    def call(self, name: str, *arguments: Expr | float) -> Expr: ...

    def add_tensor(self, arg0: str, arg1: _Nest, arg2: _Nest | None, /) -> None: ...

    def add_object(self, arg0: str, arg1: bytes, /) -> None: ...

class SymbolicTensor:
    """A tensor of a program: an argument, or one that is computed."""

    def __getitem__(self, index: Expr | int | tuple[Expr | int, ...], /) -> Expr:
        """The element at an index, or at as many as the tensor has dimensions."""

    def __call__(self, *index: Expr | int) -> Expr:
        """The element at these indices."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def dtype(self) -> str:
        """The type of its elements: "f32"."""

    @property
    def shape(self) -> tuple[Expr, ...]:
        """Its sizes."""

    def __repr__(self) -> str: ...

def _placeholder(arg0: object, arg1: str, arg2: str, arg3: object, /) -> SymbolicTensor: ...

def _compute(arg0: Sequence[Axis], arg1: object, arg2: str, arg3: Sequence[str], /) -> list[SymbolicTensor]: ...

def _update(arg0: SymbolicTensor, arg1: object, arg2: str, /) -> SymbolicTensor: ...

def _scan(arg0: object, arg1: str, arg2: int, arg3: object, arg4: str, /) -> SymbolicTensor: ...

def _scatter(arg0: SymbolicTensor, arg1: object, arg2: int, arg3: str, arg4: object, arg5: str, /) -> SymbolicTensor: ...

def _reduce(arg0: str, arg1: object, arg2: Sequence[Axis], arg3: Expr | None, arg4: object | None, /) -> Expr: ...

def _reduce_by(arg0: object, arg1: object, arg2: str, arg3: object, arg4: Sequence[Axis], arg5: Expr | None, arg6: object, /) -> list[Expr]: ...

def _argmax(arg0: object, arg1: object, arg2: Sequence[Axis], arg3: Expr | None, /) -> list[Expr]: ...

def _argmin(arg0: object, arg1: object, arg2: Sequence[Axis], arg3: Expr | None, /) -> list[Expr]: ...

def _moments(arg0: object, arg1: Sequence[Axis], arg2: Expr | None, /) -> list[Expr]: ...

class _Parameter:
    pass

def _in(arg: SymbolicTensor, /) -> _Parameter: ...

def _constant(arg: SymbolicTensor, /) -> _Parameter: ...

def _out(arg0: SymbolicTensor, arg1: object, /) -> _Parameter: ...

def _inout(arg0: SymbolicTensor, arg1: SymbolicTensor, /) -> _Parameter: ...

def _scalar(arg: Expr, /) -> _Parameter: ...

class _Program:
    @property
    def name(self) -> str: ...

def _program(arg0: str, arg1: Sequence[_Parameter], arg2: Sequence[tuple[Expr, str]], arg3: _Context | None, /) -> _Program: ...

class _Schedule:
    def apply(self, arg0: str, arg1: Mapping[str, str], /) -> dict[str, list[str]]: ...

    def text(self) -> str: ...

    def emit(self, arg0: str, arg1: str, arg2: str, /) -> str: ...

    def compile(self, arg: str, /) -> CompiledModule: ...

    def check(self, arg0: Sequence[str], arg1: int, arg2: bool, arg3: str, /) -> CheckReport: ...

def _schedule(arg: _Program, /) -> _Schedule: ...

def _default_schedule(arg0: _Program, arg1: str, arg2: Mapping[str, int], /) -> _Schedule: ...
