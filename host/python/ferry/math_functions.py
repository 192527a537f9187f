"""The functions of ferry.te on numbers, element by element. Integers become f32 where only floats make sense; narrow floats
are computed in f32."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

from typing import Union

from ferry import _ferry
from ferry._ferry import Expr

Number = Union[Expr, float]


def abs(x: Number) -> Expr:
    """The absolute value, also of integers; the least integer stays as it is."""
    return _ferry._call("abs", x)


def exp(x: Number) -> Expr:
    """e to the power of x."""
    return _ferry._call("exp", x)


def exp2(x: Number) -> Expr:
    """2 to the power of x."""
    return _ferry._call("exp2", x)


def log(x: Number) -> Expr:
    """The natural logarithm."""
    return _ferry._call("log", x)


def log2(x: Number) -> Expr:
    """The logarithm to base 2."""
    return _ferry._call("log2", x)


def log1p(x: Number) -> Expr:
    """log(1 + x)."""
    return _ferry._call("log1p", x)


def expm1(x: Number) -> Expr:
    """exp(x) - 1."""
    return _ferry._call("expm1", x)


def sqrt(x: Number) -> Expr:
    """The square root."""
    return _ferry._call("sqrt", x)


def rsqrt(x: Number) -> Expr:
    """1 / sqrt(x)."""
    return _ferry._call("rsqrt", x)


def sin(x: Number) -> Expr:
    """The sine of x in radians."""
    return _ferry._call("sin", x)


def cos(x: Number) -> Expr:
    """The cosine of x in radians."""
    return _ferry._call("cos", x)


def tan(x: Number) -> Expr:
    """The tangent of x in radians."""
    return _ferry._call("tan", x)


def tanh(x: Number) -> Expr:
    """The hyperbolic tangent."""
    return _ferry._call("tanh", x)


def sinh(x: Number) -> Expr:
    """The hyperbolic sine."""
    return _ferry._call("sinh", x)


def cosh(x: Number) -> Expr:
    """The hyperbolic cosine."""
    return _ferry._call("cosh", x)


def asin(x: Number) -> Expr:
    """The inverse sine, in radians."""
    return _ferry._call("asin", x)


def acos(x: Number) -> Expr:
    """The inverse cosine, in radians."""
    return _ferry._call("acos", x)


def atan(x: Number) -> Expr:
    """The inverse tangent, in radians."""
    return _ferry._call("atan", x)


def atan2(y: Number, x: Number) -> Expr:
    """The angle of the point (y, x) in radians, as in C."""
    return _ferry._call("atan2", y, x)


def sigmoid(x: Number) -> Expr:
    """1 / (1 + exp(-x))."""
    return _ferry._call("sigmoid", x)


def erf(x: Number) -> Expr:
    """The error function."""
    return _ferry._call("erf", x)


def pow(x: Number, y: Number) -> Expr:
    """x to the power of y."""
    return _ferry._call("pow", x, y)


def fmod(x: Number, y: Number) -> Expr:
    """The remainder of x / y, with the sign of x, as in C."""
    return _ferry._call("fmod", x, y)


def floor(x: Number) -> Expr:
    """To an integer, down."""
    return _ferry._call("floor", x)


def ceil(x: Number) -> Expr:
    """To an integer, up."""
    return _ferry._call("ceil", x)


def round(x: Number) -> Expr:
    """To the nearest integer, halves away from zero."""
    return _ferry._call("round", x)


def round_even(x: Number) -> Expr:
    """To the nearest integer, halves to the even one."""
    return _ferry._call("round_even", x)


def trunc(x: Number) -> Expr:
    """To an integer, towards zero."""
    return _ferry._call("trunc", x)


def fma(x: Number, y: Number, z: Number) -> Expr:
    """x * y + z, rounded once."""
    return _ferry._call("fma", x, y, z)


def popcount(x: Number) -> Expr:
    """The number of bits of an integer that are set."""
    return _ferry._call("popcount", x)


def clz(x: Number) -> Expr:
    """The number of leading zero bits of an integer; its width for 0."""
    return _ferry._call("clz", x)
