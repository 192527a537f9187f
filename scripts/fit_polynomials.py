#!/usr/bin/env python3
"""Fits the polynomials of crosscompile/passes/lower_math/coefficients.h and prints that file.

    python3 scripts/fit_polynomials.py > crosscompile/passes/lower_math/coefficients.h    (needs mpmath; seconds)

Each polynomial is the minimax approximation of its function, found by the Remez exchange algorithm on a fine grid with 90
digits; its coefficients are then rounded to their type. The printed error is the weighted error of the rounded polynomial.
"""
from mpmath import mp, mpf, matrix, lu_solve
import struct

mp.dps = 90
GRID = 400


def to_float(value):
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def to_double(value):
    return mpf(float(value))


def grid(low, high):
    low, high = mpf(low), mpf(high)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * GRID)) for i in range(GRID)]
    return [x for x in points if abs(x) > mpf("1e-9")]


def remez(points, values, weights, count):
    """Returns the `count` coefficients that minimise the maximum of |weight * (value - polynomial)|."""
    basis = [[x ** p for p in range(count)] for x in points]
    reference = [round(i * (len(points) - 1) / count) for i in range(count + 1)]
    for _ in range(60):
        system, right = matrix(count + 1, count + 1), matrix(count + 1, 1)
        for row, at in enumerate(reference):
            for column in range(count):
                system[row, column] = basis[at][column] * weights[at]
            system[row, count] = (-1) ** row
            right[row] = values[at] * weights[at]
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [w * (v - sum(c * b for c, b in zip(coefficients, row)))
                  for row, v, w in zip(basis, values, weights)]
        # For each run of errors of one sign, the largest error.
        extremes = []
        for at, error in enumerate(errors):
            if extremes and (errors[extremes[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extremes[-1]]):
                    extremes[-1] = at
            else:
                extremes.append(at)
        largest = max(abs(e) for e in errors)
        if len(extremes) < count + 1 or largest < abs(solution[count]) * mpf("1.001"):
            return coefficients
        while len(extremes) > count + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        reference = extremes
    return coefficients


def fit(low, high, function, weight, count, rounding):
    points = grid(low, high)
    values = [function(x) for x in points]
    weights = [abs(weight(x)) for x in points]
    fixed = [rounding(c) for c in remez(points, values, weights, count)]
    polynomials = (sum(c * x ** i for i, c in enumerate(fixed)) for x in points)
    return fixed, max(abs(w * (v - p)) for w, v, p in zip(weights, values, polynomials))


def literal(value, rounding):
    text = float(value).hex()
    mantissa, exponent = text.split("p")
    mantissa = mantissa.rstrip("0") if "." in mantissa else mantissa
    return mantissa.rstrip(".") + "p" + exponent


def polynomial(name, what, low, high, function, weight, count, rounding=to_float):
    fixed, error = fit(low, high, function, weight, count, rounding)
    print(f"// {what}, error 2^{float(mp.log(error, 2)):.1f}")
    body = ", ".join(literal(c, rounding) for c in fixed)
    print(f"inline constexpr double {name}[] = {{{body}}};\n")


def split(name, what, value, bits):
    """Splits the value into parts of the given numbers of bits; products of the first parts with small integers are exact."""
    parts, rest = [], value
    for width in bits:
        exponent = mp.floor(mp.log(abs(rest), 2)) + 1
        scale = mpf(2) ** (width - exponent)
        part = mp.nint(rest * scale) / scale
        parts.append(part)
        rest -= part
    print(f"// {what}, in parts of {', '.join(str(b) for b in bits)} bits; off by 2^{float(mp.log(abs(rest), 2)):.1f}")
    print(f"inline constexpr double {name}[] = {{{', '.join(literal(p, to_float) for p in parts)}}};\n")


def words(name, what, value, count):
    """Prints the fraction bits of the value, 32 per word."""
    digits = int(mp.floor(value * mpf(2) ** (32 * count)))
    parts = [(digits >> (32 * (count - 1 - i))) & 0xffffffff for i in range(count)]
    print(f"// {what}")
    print(f"inline constexpr std::uint32_t {name}[] = {{{', '.join(f'0x{p:08x}' for p in parts)}}};\n")


print("""// Written by scripts/fit_polynomials.py, which says how; do not edit. Coefficients stand from the lowest power up.
#pragma once

#include <cstdint>

namespace ferry::passes::math {
""")

half_ln2 = mp.log(2) / 2 * mpf("1.002")
polynomial("kExp", "(exp(r) - 1 - r) / r^2 on +-ln(2)/2, relative to expm1", -half_ln2, half_ln2,
           lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: r ** 2 / mp.expm1(r), 5)
polynomial("kExp2", "(2^r - 1) / r on +-1/2, relative to 2^r", mpf("-0.501"), mpf("0.501"),
           lambda r: (mpf(2) ** r - 1) / r, lambda r: r / mpf(2) ** r, 6)
root = mp.sqrt(2)
polynomial("kLog", "(ln(1+f) - f + f^2/2) / f^3 for 1+f from sqrt(1/2) to sqrt(2), relative to ln(1+f)",
           root / 2 - 1 - mpf("1e-5"), root - 1 + mpf("1e-5"),
           lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, lambda f: f ** 3 / mp.log1p(f), 9)
polynomial("kLog2", "log2(1+f) / f for 1+f from sqrt(1/2) to sqrt(2), relative to it",
           root / 2 - 1 - mpf("1e-5"), root - 1 + mpf("1e-5"),
           lambda f: mp.log1p(f) / mp.log(2) / f, lambda f: f * mp.log(2) / mp.log1p(f), 10)
quarter = mp.pi / 4 * mpf("1.007")
polynomial("kSin", "(sin(r)/r - 1) / z for z = r^2 up to (pi/4 + 0.005)^2, relative to sin", 0, quarter ** 2,
           lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)), 4)
polynomial("kCos", "(cos(r) - 1 + z/2) / z^2 for z = r^2 up to (pi/4 + 0.005)^2, relative to cos", 0, quarter ** 2,
           lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z ** 2, lambda z: z ** 2 / mp.cos(mp.sqrt(z)), 3)
polynomial("kAsin", "(asin(s)/s - 1) / z for z = s^2 up to 1/4, relative to asin", 0, mpf("0.2501"),
           lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda z: z * mp.sqrt(z) / mp.asin(mp.sqrt(z)), 6)
polynomial("kAtan", "(atan(t)/t - 1) / z for z = t^2 up to 1, relative to atan", 0, 1,
           lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z)), 9)
polynomial("kSinh", "(sinh(x)/x - 1) / z for z = x^2 up to 1, relative to sinh", 0, 1,
           lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda z: z * mp.sqrt(z) / mp.sinh(mp.sqrt(z)), 4)
small = mpf("0.922")
polynomial("kErf", "erf(x)/x - 1 for z = x^2 and |x| up to 0.922, relative to erf", 0, small ** 2,
           lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)), 7)
polynomial("kErfTail", "ln(1 - erf(a)) for a from 0.92 to 4, error relative to erf", mpf("0.92"), 4,
           lambda a: mp.log(mp.erfc(a)), lambda a: mp.erfc(a) / mp.erf(a), 9)
# Beyond it erf rounds to 1.
limit = mpf("3.85")
square = to_float(limit ** 2)
scale = to_float(2 / square)


def erf_quotient(s):
    x = mp.sqrt((s + 1) / scale)
    return mp.erf(x) / x


polynomial("kErfFused", "erf(x)/x for s = kErfScale x^2 - 1 and |x| up to kErfLimit, relative to erf", -1, scale * square - 1,
           erf_quotient, lambda s: 1 / erf_quotient(s), 16)
print(f"inline constexpr double kErfLimit = {literal(to_float(limit), to_float)}, kErfScale = {literal(scale, to_float)};\n")
bound = (root - 1) / (root + 1) * mpf("1.0001")
polynomial("kPowLog2", "log2((1+s)/(1-s)) / s for z = s^2 and (1+s)/(1-s) from sqrt(1/2) to sqrt(2), relative to it",
           0, bound ** 2, lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.log(2) / mp.sqrt(z),
           lambda z: mp.sqrt(z) * mp.log(2) / 2 / mp.atanh(mp.sqrt(z)), 5, to_double)
split("kLn2", "ln(2)", mp.log(2), [15, 24])
split("kHalfPiFused", "pi/2 for targets with fma", mp.pi / 2, [24, 24, 24])
split("kHalfPi", "pi/2 for targets without", mp.pi / 2, [11, 11, 11, 24])
words("kTwoOverPi", "2/pi", 2 / mp.pi, 7)
print("}  // namespace ferry::passes::math")
