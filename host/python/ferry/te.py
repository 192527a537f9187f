"""The expression language: tensors, what computes them, and programs of them, in Python.

    from ferry import te
    M, N, K = te.var("M"), te.var("N"), te.var("K")
    A, B = te.placeholder((M, K), "A"), te.placeholder((K, N), "B")
    k = te.reduce_axis(K, "k")
    C = te.compute((M, N), lambda m, n: te.sum(A[m, k] * B[k, n], k), "C")
    mm = te.program("mm", [A, B], C)
    s = mm.schedule()
    outer, inner = s[C].split("m", 8)
    s[C].reorder(outer, "n", "k", inner).parallel(outer)
    device.compile(s)["mm"]

Types of elements are "f32", "f64", "f16", "bf16", "i8" to "i64", "u8" to "u64" and "bool"; numbers of Python take the type
of the expression beside them (docs/language.md). Sizes count elements. `and`, `or`, `not` and `a < b < c` ask for a truth
value that an expression does not have, and raise TypeError: use all_of, any_of and not_. Mistakes in a definition raise
CompileError.
"""
# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union, cast as typed

from ferry import _ferry

if not _ferry._has_compiler:
    raise ImportError(
        "ferry.te needs a compiler, which this ferry is built without: install the wheel 'ferry' in place of 'ferry-client'"
    )

from ferry._ferry import Axis, Expr, Piece, SymbolicTensor as Tensor
from ferry.intrinsics import Intrinsics, nest, piece
from ferry.math_functions import (
    abs, acos, asin, atan, atan2, ceil, clz, cos, cosh, erf, exp, exp2, expm1, floor, fma, fmod, log, log1p, log2,
    popcount, pow, round, round_even, rsqrt, sigmoid, sin, sinh, sqrt, tan, tanh, trunc,
)  # fmt: skip
from ferry.schedules import Knob, Program, Schedule, Stage, knob

__all__ = [
    "Axis", "Expr", "Intrinsics", "Knob", "Piece", "Program", "Schedule", "Stage", "Tensor", "abs", "acos", "all", "all_of", "any", "any_of",
    "argmax", "argmin", "asin", "atan", "atan2", "cast", "ceil", "ceil_div", "clz", "comm_reducer", "compute", "cos",
    "cosh", "erf", "exp", "exp2", "expm1", "extern", "floor", "fma", "fmod", "if_then_else", "inout", "knob", "let", "log",
    "log1p", "log2", "max", "maximum", "min", "minimum", "moments", "nest", "not_", "out", "piece", "placeholder", "popcount", "pow",
    "prod", "program", "reduce_axis", "round", "round_even", "rsqrt", "scan", "scatter", "select", "sigmoid", "sin",
    "sinh", "sqrt", "sum", "tan", "tanh", "trunc", "update", "var",
]  # fmt: skip

Number = Union[Expr, float]
Shape = Sequence[Union[Expr, int]]
Axes = Union[Axis, Sequence[Axis]]


def _listed(axes: Axes) -> list[Axis]:
    return [axes] if isinstance(axes, Axis) else list(axes)


def var(name: str, dtype: str = "i64") -> Expr:
    """A number that calls give: a size, or, with another type, a scalar argument."""
    return _ferry._var(name, dtype)


def placeholder(shape: Shape, name: str, dtype: str = "f32", strides: Shape = ()) -> Tensor:
    """An argument: a tensor, dense in row-major order, or with its elements `strides` apart, one for each dimension."""
    return _ferry._placeholder(shape, dtype, name, strides)


def reduce_axis(extent: Expr | int | tuple[Expr | int, Expr | int], name: str) -> Axis:
    """An index that a reduction runs over: from 0 below the extent, or in the range (begin, end)."""
    if isinstance(extent, tuple):
        begin, end = extent
        return _ferry._axis(name, begin, end - begin)
    return _ferry._axis(name, 0, extent)


def _axis_names(element: Callable[..., Any], rank: int) -> list[str]:
    """Those of the function's parameters; i0, i1 and so on where it takes any number of them."""
    import inspect  # only here, as it takes a while

    kinds = [one.kind for one in inspect.signature(element).parameters.values()]
    names = list(inspect.signature(element).parameters)
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        before = kinds.index(inspect.Parameter.VAR_POSITIONAL)
        return names[:before] + [f"i{i}" for i in range(before, rank)]
    if len(names) != rank:
        raise TypeError(f"expected a function of {rank} indices, got one of {len(names)}")
    return names


def compute(shape: Shape, element: Callable[..., Any], name: str, names: Sequence[str] = ()) -> Any:
    """The tensor whose element at each index is what `element` returns for that index.

    element: takes an index for each dimension; the names of its parameters are those of the loops. If it returns a tuple,
        there are as many tensors, which `names` call; without them they are NAME.0, NAME.1 and so on.
    Returns a Tensor, or a tuple of them. Raises CompileError for a read that leaves its tensor.
    """
    axes = [_ferry._axis(axis, 0, size) for axis, size in zip(_axis_names(element, len(shape)), shape)]
    values = element(*axes)
    if isinstance(values, (tuple, list)):
        return tuple(_ferry._compute(axes, typed("Sequence[Any]", values), name, list(names)))
    return _ferry._compute(axes, [values], name, [])[0]


def update(before: Tensor, element: Callable[..., Number], name: str) -> Tensor:
    """The tensor with new elements, which may depend on those before; inout() makes it change its argument."""
    return _ferry._update(before, element, name)


def scan(shape: Shape, along: int, element: Callable[..., Number], name: str, dtype: str = "f32") -> Tensor:
    """A tensor that is computed in order along one dimension: element(self, *index) may read self at smaller indices."""
    return _ferry._scan(shape, dtype, along, element, name)


def scatter(
    before: Tensor,
    updates: Shape,
    element: Callable[..., tuple[Any, ...]],
    name: str,
    how: str = "sum",
    along: int = 0,
) -> Tensor:
    """The tensor with an update for each point of the shape `updates`, in order along that dimension.

    element: takes the index of an update and returns (index, value) or (index, value, condition): which element is
        updated by which value, and, if not always, when.
    how: "set", "sum", "prod", "min" or "max".
    """

    def complete(*index: Expr) -> tuple[Any, Any, Any]:
        place, value, *condition = element(*index)
        return place if isinstance(place, (tuple, list)) else (place,), value, condition[0] if condition else None

    return _ferry._scatter(before, updates, along, how, complete, name)


def _reduced(op: str, source: Number, axis: Axes, where: Expr | None, start: Number | None) -> Expr:
    return _ferry._reduce(op, source, _listed(axis), where, start)


def sum(source: Number, axis: Axes, where: Expr | None = None, start: Number | None = None) -> Expr:
    """The sum over the points of the axes at which `where` holds; it starts from `start`, or else from 0."""
    return _reduced("sum", source, axis, where, start)


def prod(source: Number, axis: Axes, where: Expr | None = None, start: Number | None = None) -> Expr:
    """The product over the axes, as in sum()."""
    return _reduced("prod", source, axis, where, start)


def min(source: Number, axis: Axes, where: Expr | None = None, start: Number | None = None) -> Expr:
    """The least value over the axes, as in sum(). NaN wins. minimum() is that of two expressions."""
    return _reduced("min", source, axis, where, start)


def max(source: Number, axis: Axes, where: Expr | None = None, start: Number | None = None) -> Expr:
    """The greatest value over the axes, as in sum(). NaN wins. maximum() is that of two expressions."""
    return _reduced("max", source, axis, where, start)


def any(source: Expr, axis: Axes, where: Expr | None = None) -> Expr:
    """Whether a condition holds somewhere on the axes."""
    return _reduced("any", source, axis, where, None)


def all(source: Expr, axis: Axes, where: Expr | None = None) -> Expr:
    """Whether a condition holds everywhere on the axes."""
    return _reduced("all", source, axis, where, None)


def argmax(value: Number, index: Number, axis: Axes, where: Expr | None = None) -> tuple[Expr, Expr]:
    """The greatest value and the lowest index (i64) at which it occurs: what compute() returns two tensors for."""
    greatest, at = _ferry._argmax(value, index, _listed(axis), where)
    return greatest, at


def argmin(value: Number, index: Number, axis: Axes, where: Expr | None = None) -> tuple[Expr, Expr]:
    """The least value and the lowest index (i64) at which it occurs."""
    least, at = _ferry._argmin(value, index, _listed(axis), where)
    return least, at


def moments(value: Number, axis: Axes, where: Expr | None = None) -> tuple[Expr, Expr, Expr]:
    """The count, the mean and the sum of squared deviations from the mean, in one pass. For floats only."""
    count, mean, deviations = _ferry._moments(value, _listed(axis), where)
    return count, mean, deviations


class CommReducer:
    """A reduction of one's own; comm_reducer() makes it."""

    def __init__(self, combine: Callable[..., Any], identity: Callable[..., Any], name: str) -> None:
        self._combine, self._identity, self._name = combine, identity, name

    def __call__(
        self, source: Any, axis: Axes, where: Expr | None = None, start: Any = None
    ) -> Any:
        """The combination over the axes: an expression for one source, a tuple for a tuple of them, which compute() takes
        as a whole."""
        are_several = isinstance(source, (tuple, list))
        sources: Sequence[Any] = typed("Sequence[Any]", source) if are_several else [source]
        begin: Sequence[Any] = () if start is None else typed("Sequence[Any]", start) if are_several else [start]

        def combine(left: list[Expr], right: list[Expr]) -> Sequence[Any]:
            result = self._combine(tuple(left), tuple(right)) if are_several else self._combine(left[0], right[0])
            return typed("Sequence[Any]", result) if are_several else [result]

        def identity(dtypes: list[str]) -> Sequence[Any]:
            result = self._identity(*dtypes)
            return typed("Sequence[Any]", result) if are_several else [result]

        found = _ferry._reduce_by(combine, identity, self._name, sources, _listed(axis), where, begin)
        return tuple(found) if are_several else found[0]


def comm_reducer(combine: Callable[..., Any], identity: Callable[..., Any], name: str = "reducer") -> CommReducer:
    """A reduction by `combine(left, right)`, of two values or of two tuples of them.

    combine: must be associative and commutative, up to rounding, and use nothing but its arguments.
    identity: called with the names of the types, returns the value (or the tuple) that changes nothing.
    """
    return CommReducer(combine, identity, name)


def cast(value: Number, dtype: str) -> Expr:
    """Converts: floats to integers towards zero and within the range of the type, NaN to 0; all else rounds to nearest."""
    return _ferry._cast(dtype, value)


def select(condition: Expr, on_true: Number, on_false: Number) -> Expr:
    """One of two values, both of which are computed."""
    return _ferry._select(condition, on_true, on_false)


def if_then_else(condition: Expr, on_true: Number, on_false: Number) -> Expr:
    """One of two values, of which only that one is computed: it may read elements that exist only then."""
    return _ferry._if_then_else(condition, on_true, on_false)


def minimum(a: Number, b: Number) -> Expr:
    """The lesser of two; NaN if either is."""
    return _ferry._minimum(a, b)


def maximum(a: Number, b: Number) -> Expr:
    """The greater of two; NaN if either is."""
    return _ferry._maximum(a, b)


def ceil_div(a: Number, b: Number) -> Expr:
    """The quotient of two integers, rounded up."""
    return _ferry._ceil_div(a, b)


def all_of(*conditions: Expr) -> Expr:
    """Whether all hold: what `and` means. All of them are computed."""
    return _ferry._all_of(list(conditions))


def any_of(*conditions: Expr) -> Expr:
    """Whether one of them holds: what `or` means. All of them are computed."""
    return _ferry._any_of(list(conditions))


def not_(condition: Expr) -> Expr:
    """Whether it does not hold."""
    return _ferry._not(condition)


def let(name: str, value: Expr, body: Callable[[Expr], Number]) -> Expr:
    """body(x), where x is the value, which is computed once however often the body uses it."""
    return _ferry._let(name, value, body)


def extern(name: str, *arguments: Number) -> Expr:
    """Calls a function of C's mathematics by its name: "cosf" on f32, "cos" on f64."""
    return _ferry._extern_call(name, *arguments)


def out(tensor: Tensor, strides: Shape = ()) -> Any:
    """A result whose elements are `strides` apart."""
    return _ferry._out(tensor, strides)


def inout(before: Tensor, after: Tensor) -> Any:
    """An argument of program() that the kernel changes from one tensor, a placeholder, to another, of update()."""
    return _ferry._inout(before, after)


def program(
    name: str,
    parameters: Iterable[Any],
    outputs: Any = (),
    *,
    constants: Sequence[Tensor] = (),
    require: Sequence[tuple[Expr, str]] = (),
    intrinsics: Intrinsics | None = None,
) -> Program:
    """A kernel: its arguments in their order, then its results.

    parameters: placeholders, scalars of var(), and inout().
    outputs: a computed tensor or several, or out().
    constants: those of the placeholders whose contents are the same in many calls, so that what depends only on them, such
        as packed weights, is computed once.
    require: conditions over sizes that calls must fulfil, each with the message of the error otherwise.
    intrinsics: functions of one's own that the expressions call, or that schedules tensorize.
    """
    listed: list[Any] = []
    for one in parameters:
        if isinstance(one, Tensor):
            is_constant = one in constants
            listed.append(_ferry._constant(one) if is_constant else _ferry._in(one))
        else:
            listed.append(_ferry._scalar(one) if isinstance(one, Expr) else one)
    results = typed("Sequence[Any]", outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    listed += [_ferry._out(one, ()) if isinstance(one, Tensor) else one for one in results]
    return Program(_ferry._program(name, listed, list(require), intrinsics._context if intrinsics else None), intrinsics)
