"""expressions_test.py SOURCE_DIR BINARY_DIR: programs that are written as expressions in Python compute what NumPy does."""
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import ferry
from ferry import te

SOURCE = Path(sys.argv[1])
del sys.argv[1:3]
os.environ.pop("FERRY_REMOTE", None)

UNARY = {  # what NumPy or math calls the functions, and from where to where arguments are
    "exp": (np.exp, -5, 5), "exp2": (np.exp2, -5, 5), "log": (np.log, 0.1, 9), "log2": (np.log2, 0.1, 9),
    "log1p": (np.log1p, -0.9, 9), "expm1": (np.expm1, -3, 3), "sqrt": (np.sqrt, 0, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "sin": (np.sin, -7, 7), "cos": (np.cos, -7, 7), "tan": (np.tan, -1, 1),
    "tanh": (np.tanh, -3, 3), "sinh": (np.sinh, -3, 3), "cosh": (np.cosh, -3, 3), "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1), "atan": (np.arctan, -9, 9), "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -5, 5),
    "erf": (np.vectorize(math.erf), -3, 3), "floor": (np.floor, -9, 9), "ceil": (np.ceil, -9, 9),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), -9, 9), "round_even": (np.round, -9, 9),
    "trunc": (np.trunc, -9, 9), "abs": (np.abs, -9, 9),
}  # fmt: skip
BINARY = {"atan2": np.arctan2, "pow": np.power, "fmod": np.fmod}


class ExpressionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ferry.connect("inproc://")

    def setUp(self):
        self.random = np.random.default_rng(5)
        self.n = te.var("n")

    def normal(self, *shape):
        return self.random.normal(size=shape).astype(np.float32)

    def run_program(self, inputs, outputs, *arguments, **how):
        function = self.device.compile(te.program("f", inputs, outputs, **how))["f"]
        results = function(*arguments)
        return tuple(one.numpy() for one in results) if isinstance(results, tuple) else results.numpy()

    def product(self):
        m, k, n = te.var("M"), te.var("K"), te.var("N")
        a, b = te.placeholder((m, k), "A"), te.placeholder((k, n), "B")
        r = te.reduce_axis(k, "k")
        c = te.compute((m, n), lambda m, n: te.sum(a[m, r] * b[r, n], r), "C")
        return te.program("mm", [a, b], c), a, b, c

    def test_a_product_of_odd_sizes_is_that_of_numpy_under_any_schedule(self):
        mm, _, _, c = self.product()
        tiled = mm.schedule()
        mo, no, mi, ni = tiled[c].tile("m", "n", 4, 8)
        tiled[c].reorder(mo, no, "k", mi, ni).parallel(mo).vectorize(ni).unroll(mi)
        parts = mm.schedule()
        outer, _ = parts["C"].split("k", 5)
        partial = parts["C"].rfactor(outer)
        partial.compute_root()
        for source in (mm, mm.schedule(), tiled, parts, mm.default_schedule(sizes={"M": 33, "K": 65, "N": 17})):
            function = self.device.compile(source)["mm"]
            for sizes in ((1, 1, 1), (33, 65, 17), (5, 0, 3)):
                a, b = self.normal(*sizes[:2]), self.normal(*sizes[1:])
                np.testing.assert_allclose(function(a, b).numpy(), a @ b, rtol=1e-4, atol=1e-4)
        self.assertTrue(tiled.check({"M": 7, "K": 5, "N": 11}).is_fine)

    def test_every_function_of_a_number_is_that_of_numpy(self):
        every = set(UNARY) | set(BINARY) | {"fma", "popcount", "clz"}
        self.assertEqual(set(ferry._ferry._math_functions()), every)
        self.assertLessEqual(every, set(te.__all__))
        x, y = te.placeholder((self.n,), "x"), te.placeholder((self.n,), "y")
        outputs = [te.compute((self.n,), lambda i: getattr(te, name)(x[i]), f"o_{name}") for name in UNARY]
        for (name, (expected, low, high)), output in zip(UNARY.items(), outputs):
            with self.subTest(function=name):
                values = self.random.uniform(low, high, 37).astype(np.float32)
                result = self.run_program([x], output, values)
                np.testing.assert_allclose(result, expected(values.astype(np.float64)), rtol=2e-5, atol=2e-6)
        for name, expected in BINARY.items():
            with self.subTest(function=name):
                a, b = self.random.uniform(0.5, 3, size=(2, 37)).astype(np.float32)
                output = te.compute((self.n,), lambda i: getattr(te, name)(x[i], y[i]), "o")
                np.testing.assert_allclose(self.run_program([x, y], output, a, b), expected(a, b), rtol=2e-5, atol=1e-6)
        w = te.placeholder((self.n,), "w", "u32")
        bits = te.compute((self.n,), lambda i: (te.popcount(w[i]), te.clz(w[i])), "bits", names=["ones", "zeros"])
        words = np.uint32([0, 1, 0x80000000, 0xFFFFFFFF, 0x00F0])
        ones, zeros = self.run_program([w], bits, words)
        self.assertEqual(ones.tolist(), [int(word).bit_count() for word in words])
        self.assertEqual(zeros.tolist(), [32 - int(word).bit_length() for word in words])

    def test_operators_round_and_wrap_as_the_language_says(self):
        x, y = te.placeholder((self.n,), "x", "i32"), te.placeholder((self.n,), "y", "i32")
        a = np.int32([7, -7, 7, -7, 0, 2**31 - 1, 1 << 20])
        b = np.int32([3, 3, -3, -3, 5, 2, 11])
        cases = {
            "sum": (lambda p, q: p + q, a + b), "difference": (lambda p, q: 5 - p, 5 - a),
            "product": (lambda p, q: p * q, a * b), "quotient": (lambda p, q: p // q, a // b),
            "modulo": (lambda p, q: p % q, a % b), "and": (lambda p, q: p & q, a & b), "or": (lambda p, q: p | 6, a | 6),
            "xor": (lambda p, q: 6 ^ p, 6 ^ a), "inverse": (lambda p, q: ~p, ~a), "minus": (lambda p, q: -p, -a),
            "left": (lambda p, q: p << 2, a << 2), "right": (lambda p, q: p >> 2, a >> 2),
            "less": (lambda p, q: p < q, a < b), "at least": (lambda p, q: p >= q, a >= b),
            "equal": (lambda p, q: p == 7, a == 7), "unequal": (lambda p, q: p != q, a != b),
            "lesser": (te.minimum, np.minimum(a, b)), "greater": (te.maximum, np.maximum(a, b)),
            "all": (lambda p, q: te.all_of(p > 0, q > 0), (a > 0) & (b > 0)),
            "any": (lambda p, q: te.any_of(p < 0, te.not_(q > 0)), (a < 0) | (b <= 0)),
            "select": (lambda p, q: te.select(p < q, p, q + 1), np.where(a < b, a, b + 1)),
            "real": (lambda p, q: p / te.cast(q, "f64"), a / b.astype(float)),
            "cast": (lambda p, q: te.cast(te.cast(p, "f32") * 0.5, "i16"), None),
        }  # fmt: skip
        with np.errstate(over="ignore"):
            for name, (define, expected) in cases.items():
                with self.subTest(case=name):
                    found = self.run_program([x, y], te.compute((self.n,), lambda i: define(x[i], y[i]), "o"), a, b)
                    if expected is None:  # towards zero, and at the ends of the range
                        expected = np.clip(np.trunc(a.astype(np.float32) * 0.5), -32768, 32767).astype(np.int16)
                    np.testing.assert_array_equal(found, expected)
        floats = te.placeholder((self.n,), "z")
        output = te.compute((self.n,), lambda i: (2 - floats[i]) / 4 + floats[i] ** 2 - floats[i] // 1, "o")
        values = self.normal(9)
        np.testing.assert_allclose(self.run_program([floats], output, values),
                                   (2 - values) / 4 + values**2 - np.floor(values), rtol=1e-5, atol=1e-6)

    def test_reductions_of_ones_own_and_of_tuples_are_what_they_say(self):
        x = te.placeholder((self.n,), "x")
        i = te.reduce_axis(self.n, "i")
        values = self.random.uniform(0.5, 1.5, 41).astype(np.float32)
        cases = {
            "sum": (te.sum(x[i], i), values.sum()), "prod": (te.prod(x[i], [i]), values.prod()),
            "min": (te.min(x[i], i), values.min()), "max": (te.max(x[i], i), values.max()),
            "where": (te.sum(x[i], i, where=x[i] > 1), values[values > 1].sum()),
            "start": (te.sum(x[i], i, start=10.0), values.sum() + 10),
            "any": (te.select(te.any(x[i] > 1.4, i), 1.0, 0.0), float((values > 1.4).any())),
            "all": (te.select(te.all(x[i] > 0.4, i), 1.0, 0.0), float((values > 0.4).all())),
            "own": (te.comm_reducer(lambda a, b: a * b, lambda dtype: 1, "times")(x[i], i), values.prod()),
        }  # fmt: skip
        for name, (source, expected) in cases.items():
            with self.subTest(case=name):
                found = self.run_program([x], te.compute((), lambda: source, "o"), values)
                np.testing.assert_allclose(found, expected, rtol=1e-4)
        both = te.comm_reducer(lambda a, b: (a[0] + b[0], te.maximum(a[1], b[1])), lambda s, t: (0.0, -1e30), "both")
        total, greatest = self.run_program([x], te.compute((), lambda: both((x[i], x[i]), i), "o"), values)
        np.testing.assert_allclose((total, greatest), (values.sum(), values.max()), rtol=1e-5)
        value, at = self.run_program([x], te.compute((), lambda: te.argmax(x[i], i, i), "o", names=["v", "at"]), values)
        self.assertEqual((value, at), (values.max(), values.argmax()))
        count, mean, squares = self.run_program([x], te.compute((), lambda: te.moments(x[i], i), "o"), values)
        np.testing.assert_allclose((count, mean, squares / 41), (41, values.mean(), values.var()), rtol=1e-5)

    def test_tensors_with_gaps_windows_and_parts_of_any_rank(self):
        m, stride = te.var("m"), te.var("stride")
        x = te.placeholder((m, self.n), "x", strides=(stride, 1))
        j = te.reduce_axis(self.n, "j")
        rows = te.program("rows", [x], te.compute((m,), lambda r: te.sum(x[r, j], j), "sums"))
        array = self.normal(5, 11)
        found = self.device.compile(rows)["rows"](array[:, :7], 11).numpy()
        np.testing.assert_allclose(found, array[:, :7].sum(1), rtol=1e-5, atol=1e-5)
        y = te.placeholder((self.n,), "y")
        shifted = te.compute((self.n,), lambda *i: te.if_then_else(i[0] >= 1, y[i[0] - 1], 0.0), "o")
        values = self.normal(13)
        np.testing.assert_array_equal(self.run_program([y], shifted, values), np.concatenate([[0], values[:-1]]))
        window = te.reduce_axis((1, 4), "w")
        sums = te.compute((self.n - 4,), lambda i: te.sum(y[i + window], window), "o")
        np.testing.assert_allclose(self.run_program([y], sums, values, require=[(self.n >= 4, "too short")]),
                                   [values[i + 1 : i + 4].sum() for i in range(9)], rtol=1e-5, atol=1e-6)

    def test_sequences_updates_and_scalars(self):
        x, factor = te.placeholder((self.n,), "x"), te.var("factor", "f32")
        values = self.normal(19)
        running = te.scan((self.n,), 0, lambda s, i: x[i] + te.if_then_else(i >= 1, s[i - 1] * factor, 0.0), "s")
        expected = [values[0]]
        for value in values[1:]:
            expected.append(value + expected[-1] * 0.5)
        np.testing.assert_allclose(self.run_program([x, factor], running, values, 0.5), expected, rtol=1e-5, atol=1e-6)
        places, bins = te.placeholder((self.n,), "places", "i64"), te.placeholder((te.var("b"),), "bins")
        counts = te.scatter(bins, (self.n,), lambda i: (places[i], 1.0, places[i] >= 0), "counts")
        result = self.run_program([places, bins], counts, np.int64([0, 2, 2, -1]), np.zeros(3, np.float32))
        self.assertEqual(result.tolist(), [1, 0, 2])
        more = te.update(x, lambda i: x[i] * factor + 1.0, "more")
        function = self.device.compile(te.program("f", [te.inout(x, more), factor]))["f"]
        array = values.copy()
        function(array, 3, out=array)
        np.testing.assert_allclose(array, values * 3 + 1, rtol=1e-5)
        square = te.compute((self.n,), lambda i: te.let("t", x[i] + 1.0, lambda t: t * t), "o")
        np.testing.assert_allclose(self.run_program([x], square, values), (values + 1) ** 2, rtol=1e-5)
        cosine = te.compute((self.n,), lambda i: te.extern("cosf", x[i]), "o")
        np.testing.assert_allclose(self.run_program([x], cosine, values), np.cos(values), rtol=1e-5, atol=1e-6)

    def test_what_has_no_truth_value_says_what_to_write_instead(self):
        i = te.reduce_axis(self.n, "i")
        for wrong in (lambda: i < 3 and i > 1, lambda: not (i < 3), lambda: 0 < i < 3, lambda: bool(i == 1)):
            with self.assertRaisesRegex(TypeError, "te.all_of, te.any_of and te.not_"):
                wrong()
        with self.assertRaisesRegex(TypeError, "expected //"):
            self.n / 2
        with self.assertRaisesRegex(TypeError, "expected an expression or a number, got str"):
            self.n + "1"
        with self.assertRaisesRegex(ferry.CompileError, "index"):
            te.placeholder((self.n,), "x")[i, i]
        with self.assertRaisesRegex(TypeError, "expected a function of 2 indices, got one of 1"):
            te.compute((self.n, 3), lambda i: i, "o")
        with self.assertRaisesRegex(ferry.UsageError, "f32 or int8, got 'float99'"):
            te.cast(1, "float99")

    def test_functions_of_ones_own_are_what_their_rules_say_on_each_target(self):
        own = te.Intrinsics()
        mylog = own.function("mylog", lambda x: te.log(x))
        own.rule("mylog", lambda x: te.log2(x) * 0.6931471805599453, arch="armv7")
        mixed = own.function("mixed", lambda x, k: x * te.cast(k, "f32"), types=["f32", "i32"])
        half = own.function("half", lambda: 0.5, types=[])
        a, k = te.placeholder((self.n,), "A"), te.placeholder((self.n,), "K", "i32")
        b = te.compute((self.n,), lambda i: mylog(a[i] + 2) + mixed(a[i], k[i]) + half(), "B")
        program = te.program("f", [a, k], b, intrinsics=own)
        schedule = program.schedule()
        _, lane = schedule[b].split("i", 8)
        schedule[b].vectorize(lane)
        values, factors = abs(self.normal(101)), self.random.integers(-9, 9, 101).astype(np.int32)
        expected = np.log(values.astype(float) + 2) + values.astype(float) * factors + 0.5
        for source in (program, schedule):
            result = self.device.compile(source)["f"](values, factors).numpy()
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
        self.assertIn("log2(", schedule.emit("lower", "armv7", after="lower_intrinsics"))
        self.assertNotIn("log2(", schedule.emit("lower", "aarch64", after="lower_intrinsics"))
        for target in ("", "armv7"):
            self.assertTrue(schedule.check({"n": 101}, target=target).is_fine, target)
        # What is added later is not part of the program.
        own.rule("mylog", lambda x: x * 0, priority=99)
        np.testing.assert_allclose(self.device.compile(program)["f"](values, factors).numpy(), expected, rtol=1e-5, atol=1e-5)

    def test_a_check_finds_a_rule_that_computes_something_else(self):
        own = te.Intrinsics()
        twice = own.function("twice", lambda x: x + x)
        own.rule("twice", lambda x: x * 2.001, arch="armv7")
        a = te.placeholder((self.n,), "A")
        schedule = te.program("f", [a], te.compute((self.n,), lambda i: twice(a[i]), "B"), intrinsics=own).schedule()
        self.assertTrue(schedule.check({"n": 13}, target="aarch64").is_fine)
        report = schedule.check({"n": 13}, target="armv7")
        self.assertFalse(report.is_fine)
        self.assertRegex(repr(report), r"^wrong: B\[\d+\] is ")

    def test_mistakes_in_functions_of_ones_own_are_named(self):
        own = te.Intrinsics()

        def broken(x):
            raise KeyError("nothing here")

        fails = own.function("fails", broken)
        wrong = own.function("wrong", lambda x: te.cast(x, "i32"))
        with self.assertRaisesRegex(ferry.CompileError, "'fails' is registered already"):
            own.function("fails", broken)
        with self.assertRaisesRegex(ferry.CompileError, "did you mean 'fails'|unknown intrinsic 'fail'"):
            own.rule("fail", broken)
        with self.assertRaisesRegex(ferry.CompileError, "fails: argument 1: expected a float, got i64"):
            fails(self.n)
        a = te.placeholder((self.n,), "A")
        for function, message in ((fails, "fails: KeyError: 'nothing here'"), (wrong, "wrong")):
            b = te.compute((self.n,), lambda i: function(a[i]), "B")
            with self.assertRaisesRegex(ferry.CompileError, message):
                self.device.compile(te.program("f", [a], b, intrinsics=own))

    def test_a_function_in_c_takes_the_place_of_loops_that_compute_the_same(self):
        own = te.Intrinsics()
        c, a, b = (te.piece(name, (8, 8), (te.var("ld" + name), 1)) for name in "cab")
        i, j, k = (te.reduce_axis(8, name) for name in "ijk")
        own.tensor("gemm8x8", te.nest("gemm8x8_update", [c, a, b], [i, j, k], (i, j), c[i, j] + a[i, k] * b[k, j]),
                   te.nest("gemm8x8_reset", [c], [i, j], (i, j), 0.0))
        with tempfile.TemporaryDirectory(prefix="ferry-gemm-") as folder:
            object_file = Path(folder) / "gemm.o"
            subprocess.run(["cc", "-O2", "-fPIC", "-c", SOURCE / "examples/gemm8x8/gemm8x8.c", "-o", object_file], check=True)
            own.object("x86_64", object_file)
        size = 40
        x, y = te.placeholder((size, size), "X"), te.placeholder((size, size), "Y")
        r = te.reduce_axis(size, "r")
        z = te.compute((size, size), lambda m, n: te.sum(x[m, r] * y[r, n], r), "Z")
        mm = te.program("mm", [x, y], z, intrinsics=own)
        schedule = mm.schedule()
        mo, no, mi, ni = schedule[z].tile("m", "n", 8, 8)
        ro, ri = schedule[z].split("r", 8)
        schedule[z].reorder(mo, no, ro, mi, ni, ri)
        schedule[z].tensorize(mi, "gemm8x8")
        self.assertIn("gemm8x8_update(", schedule.lower())
        product = self.device.compile(schedule)["mm"]
        left, right = self.normal(size, size), self.normal(size, size)
        np.testing.assert_allclose(product(left, right).numpy(), left @ right, rtol=1e-4, atol=1e-4)
        self.assertTrue(schedule.check().is_fine)
        with self.assertRaisesRegex(ferry.CompileError, "gemm9x9"):
            mm.schedule()[z].tensorize("r", "gemm9x9")
        with self.assertRaisesRegex(ferry.CompileError, "piece 'c': expected a stride for each dimension, 2, got 1"):
            te.piece("c", (8, 8), (1,))

    def test_knobs_stay_open_until_they_are_chosen(self):
        mm, _, _, c = self.product()
        schedule = mm.schedule()
        rows = te.knob("rows", [8, 4])
        schedule[c].split("m", rows, ("mo", "mi"))
        schedule[c].split("n", rows)
        schedule[c].reorder("mo", "n.outer", "k", "mi", "n.inner")
        self.assertEqual(schedule.knobs, {"rows": ["8", "4"]})
        self.assertIn("split m 8 -> mo mi", schedule.directives)
        other = schedule.at(rows=4)
        self.assertIn("split n 4", other.directives)
        self.assertEqual(other.text, schedule.text)
        self.assertIn("$rows in {8,4}", schedule.text)
        self.assertIn("+  for (mo = 0; mo < (M + 3) / 4; ++mo)", other.diff())
        self.assertNotEqual(other.diff(schedule), "")
        self.assertEqual(other.diff(other), "")
        with self.assertRaisesRegex(ferry.CompileError, r"one of \{8,4\}"):
            schedule.at(rows=5)
        with self.assertRaisesRegex(ValueError, "has no knob 'columns'"):
            schedule.at(columns=5)
        a, b = self.normal(9, 5), self.normal(5, 6)
        found = self.device.compile(schedule, knobs={"rows": 4})["mm"](a, b).numpy()
        np.testing.assert_allclose(found, a @ b, rtol=1e-5, atol=1e-5)

    def test_every_primitive_is_a_method_and_illegal_ones_change_nothing(self):
        listed = re.findall(r"^FERRY_PRIMITIVE\((\w+)", (SOURCE / "host/schedule/primitives/primitives.def").read_text(), re.M)
        for name in listed:
            self.assertTrue(callable(getattr(te.Stage, name, None) or getattr(te.Schedule, name, None)), name)
        mm, _, _, c = self.product()
        schedule = mm.schedule()
        before = schedule.lower()
        with self.assertRaisesRegex(ferry.CompileError, r"expected an axis of 'C' \('m', 'n', 'k'\), got 'q'"):
            schedule[c].split("q", 4)
        self.assertEqual((schedule.lower(), schedule.text), (before, ""))
        write = schedule[c].cache_write("local")
        copy = schedule["A"].cache_read("global", [write])
        write.compute_at(c, "n")
        self.assertEqual((copy.name, write.name), ("A.global", "C.local"))
        self.assertIn("A.global", schedule.lower())
        self.assertIn("int32_t ferry_fn_mm", schedule.emit("c"))
        self.assertTrue(schedule.check({"M": 3, "K": 4, "N": 5}).is_fine)


if __name__ == "__main__":
    unittest.main()
