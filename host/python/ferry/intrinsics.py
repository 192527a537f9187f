"""Functions of one's own for ferry.te: in expressions, and in place of loops."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ferry import _ferry

if TYPE_CHECKING:  # a client without a compiler has none of these
    from ferry._ferry import Axis, Expr, Piece

Lower = Callable[..., Union["Expr", float]]


def piece(name: str, shape: Sequence[int], strides: Sequence[Expr | int], dtype: str = "f32") -> Piece:
    """A part of a larger tensor, whose elements are `strides` apart: numbers, or variables that the call gives."""
    return _ferry._piece(name, dtype, shape, strides)


def nest(symbol: str, pieces: Sequence[Piece], axes: Sequence[Axis], index: Sequence[Expr | int], value: Expr | float) -> _ferry._Nest:
    """What a function of C computes: loops over the axes, of constant extents, around pieces[0][index] = value.

    symbol: its name. It takes the addresses of the pieces' first elements, then each variable that is a stride, in the
        order of the pieces: `void SYMBOL(float* c, const float* a, int64_t ldc, int64_t lda)`.
    """
    return _ferry._nest(symbol, pieces, axes, index, value)


class Intrinsics:
    """Functions of one's own, which te.program(..., intrinsics=) takes with what it has got by then.

        own = te.Intrinsics()
        mylog = own.function("mylog", lambda x: te.log(x))
        own.rule("mylog", lambda x: te.log2(x) * 0.6931471805599453, arch="armv7")
        B = te.compute((N,), lambda i: mylog(A[i] + 2), "B")
        te.program("logarithm", [A], B, intrinsics=own)

    Schedule.check() computes a call as the rule for its target says, and holds it against the rule without conditions. In
    place of a function of C it computes the loops for which that stands.
    """

    def __init__(self) -> None:
        self._context = _ferry._Context()

    def function(
        self, name: str, lower: Lower | None = None, *, arguments: int = 1, types: Sequence[str] | None = None, result: str = "f32"
    ) -> Callable[..., Expr]:
        """Returns a function that expressions may call.

        lower: called as the program is compiled, with an expression for each argument; returns what a call computes. It
            may be called several times, from any thread. Without it, there are only the rules that rule() adds.
        arguments: how many there are, all of one type of float, which is also that of the result.
        types: those of the arguments, if they are others; `result` is that of the result then.
        """
        self._context.add(name, arguments, None if types is None else list(types), result)
        if lower is not None:
            self.rule(name, lower)
        return lambda *values: self._context.call(name, *values)

    def rule(self, name: str, lower: Lower, *, arch: str = "", features: Sequence[str] = (), priority: int | None = None) -> None:
        """What a call computes on targets of an architecture ("x86_64", "armv7") that have these features ("avx512f").

        Among the rules that fit, the one with the highest priority applies; by default, that is the number of conditions.
        """
        conditions = len(features) + bool(arch)
        self._context.add_rule(name, lower, arch, list(features), conditions if priority is None else priority)

    def tensor(self, name: str, update: _ferry._Nest, reset: _ferry._Nest | None = None) -> None:
        """A function of C that Stage.tensorize(axis, name) calls in place of loops that compute the same.

        update: its definition by nest(), which adds to pieces[0]. reset: a function that initialises the results; without
            one, loops do.
        """
        self._context.add_tensor(name, update, reset)

    def object(self, arch: str, code: Union[bytes, str, "os.PathLike[str]"]) -> None:
        """The functions of C for an architecture: an object file of position-independent code (cc -O2 -c -fPIC), or its path."""
        content: Any = code if isinstance(code, bytes) else Path(code).read_bytes()
        self._context.add_object(arch, content)
