"""Assertions about results, for tests."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ferry import _ferry
from ferry.measurements import check_results


def assert_close(
    actual: Any,
    function: _ferry.Function,
    *args: Any,
    random: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Raises AssertionError unless `actual` is what the definition of the function gives for these arguments.

    actual: an array or a tensor, or a tuple of them if the function has several outputs; whatever computed it.
    args: all inputs of the function, in their order.
    random: whether floats in the arguments were drawn at random, so that rounding errors mostly cancel. Floats may differ
        by the rounding errors that follow from the definition: of each element's own terms, added in any order, at
        worst; or, if random, by what they come to then, which also finds operands that were rounded to float16.
    rtol, atol: in place of that, floats may differ by atol + rtol * |expected|. Integers must be equal.

    Raises UsageError if the function has no definition in ferry's own notation, or if `actual` has another type or shape.
    """
    if len(args) != len(function.inputs):
        raise TypeError(f"expected {len(function.inputs)} arguments, got {len(args)}: {function.signature}")
    several = len(function.outputs) != 1 and type(actual) in (tuple, list)
    results: Sequence[Any] = actual if several else [actual]
    report = check_results(function, results, *args, random=random, rtol=rtol, atol=atol)
    if not report.is_fine:
        raise AssertionError(f"{function.name}: {report.mistake}")
