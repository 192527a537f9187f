"""kernels_test.py FERRY: exported kernels compute what `ferry run` computes, and refuse wrong calls."""
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import exported
import numpy as np
from exported import COMPILER, LIBC, PTHREAD, TARGETS, TLS, Exported, aligned, tool, undefined_names

exported.FERRY = sys.argv.pop(1)

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
SOFTMAX = """def softmax(float(N,D) X) -> (Y) {
  m(n) max=! X(n,d)
  e(n,d) = exp(X(n,d) - m(n))
  s(n) +=! e(n,d)
  Y(n,d) = e(n,d) / s(n)
}
"""
SLIDE = """def slide(float(N) X, float(K) H, uint8(N) B, int8(K) G, int16(N) P, double(N) Q) -> (Y, Z, S, D, C) {
  Y(i) +=! X(i + k) * H(k) where i in 0:N - K + 1
  Z(i) +=! int(B(i + k)) * int(G(k)) where i in 0:N - K + 1
  S(i) = P(i) / 3
  D(i) = Q(i) * Q(i)
  C(i) = B(i) + B(N - 1 - i)
}
"""
HERE = Path(__file__).parent
NULL, ARENA_ALIGNMENT, ARENA_BYTES, SIZES, TENSOR_ALIGNMENT, INSTANCE, CONSTANT_SIZES, THREADS = -1, -2, -3, -4, -5, -6, -7, -9


def text_file(test, text):
    folder = exported.tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    path = Path(folder.name) / "kernel.tc"
    path.write_text(text)
    return path


class KernelsTest(unittest.TestCase):
    def mm(self, *options):
        return Exported(text_file(self, MM), "mm", *options)

    def product(self, M, K, N, seed=0):
        random = np.random.default_rng(seed)
        return aligned(random.standard_normal((M, K), np.float32)), aligned(random.standard_normal((K, N), np.float32))

    def test_an_exported_kernel_computes_the_bits_of_ferry_run_for_any_sizes(self):
        mm = self.mm()
        for M, K, N in [(64, 64, 64), (33, 70, 17), (1, 1, 1), (5, 0, 3)]:
            a, b = self.product(M, K, N)
            c = aligned(np.full((M, N), 7, np.float32))
            self.assertEqual(mm.call("run", mm.make(M, K, N), a, b, c, M, K, N), 0)
            np.testing.assert_array_equal(c, exported.run(text_file(self, MM), ["C"], A=a, B=b)[0])

    def test_math_functions_are_part_of_the_object(self):
        softmax = Exported(text_file(self, SOFTMAX), "softmax", "--size", "N=19,D=45")
        x = aligned(np.random.default_rng(1).standard_normal((19, 45), np.float32) * 8)
        y = aligned(np.zeros_like(x))
        self.assertEqual(softmax.call("run", softmax.make(19, 45), x, y, 19, 45), 0)
        np.testing.assert_array_equal(y, exported.run(text_file(self, SOFTMAX), ["Y"], X=x)[0])
        exported.ferry("export", text_file(self, SOFTMAX), "-o", softmax.folder)
        self.assertLessEqual(undefined_names("", softmax.path("softmax.o")), LIBC)

    def test_any_number_of_threads_computes_the_same(self):
        mm = self.mm("--size", "M=256,N=256,K=256")
        a, b = self.product(200, 150, 170)
        results = []
        for number in (1, 2, 5):
            pool = mm.start_threads(number)
            c = aligned(np.zeros((200, 170), np.float32))
            instance = mm.make(200, 150, 170, threads=pool, number=number)
            for _ in range(50):
                self.assertEqual(mm.call("run", instance, a, b, c, 200, 150, 170), 0)
            mm.call("threads_stop", pool, result=None)
            results.append(c)
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])

    def test_a_program_loads_hundreds_of_libraries(self):
        """The C library has little memory for the thread-local variables of libraries that are loaded at run time."""
        mm = self.mm()
        library = mm.path("libmm.so").read_bytes()
        for number in range(300):
            mm.path(f"{number}.so").write_bytes(library)
        tool(sys.executable, "-c", "import ctypes\nfor number in range(300): ctypes.CDLL(f'./{number}.so')", cwd=mm.folder)

    def test_instances_run_at_once_and_may_share_threads(self):
        mm = self.mm("--size", "M=256,N=256,K=256")
        a, b = self.product(130, 120, 110)
        compiled = mm.path("mm.ferry")
        exported.ferry("compile", text_file(self, MM), "--size", "M=256,N=256,K=256", "-o", compiled)
        expected = exported.run(compiled, ["C"], A=a, B=b)[0]
        pool = mm.start_threads(3)
        wrong = []

        def work(threads):
            arena = aligned(mm.arena_bytes(130, 120, 110, threads=3))
            instance, c = mm.init(arena, threads=threads), aligned(np.zeros((130, 110), np.float32))
            for _ in range(30):
                c[...] = 0
                if mm.call("run", instance, a, b, c, 130, 120, 110) != 0 or not np.array_equal(c, expected):
                    wrong.append(threads)

        workers = [threading.Thread(target=work, args=(threads,)) for threads in (pool, pool, None, None)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        mm.call("threads_stop", pool, result=None)
        self.assertEqual(wrong, [])

    def test_wrong_arenas_and_threads_are_refused(self):
        mm = self.mm()
        needed = mm.arena_bytes(64, 64, 64)
        self.assertGreater(needed, 0)
        self.assertEqual(mm.init(aligned(needed)[:0], threads=None), ARENA_BYTES)
        self.assertEqual(mm.init(aligned(needed, offset=8)), ARENA_ALIGNMENT)
        self.assertEqual(mm.call("init", None, needed, None, None), NULL)
        self.assertEqual(mm.init(aligned(needed), threads=aligned(2000)), THREADS)
        self.assertEqual(mm.arena_bytes(64, 64, 64, threads=0), THREADS)
        pool = aligned(4000)
        self.assertEqual(mm.call("threads_start", pool, 100, exported.ctypes.c_int32(2)), THREADS)
        self.assertEqual(mm.call("threads_start", pool[8:], 3000, exported.ctypes.c_int32(2)), ARENA_ALIGNMENT)
        self.assertEqual(mm.call("threads_start", None, 3000, exported.ctypes.c_int32(2)), NULL)

    def test_wrong_calls_are_refused_and_leave_the_output(self):
        mm = self.mm()
        a, b = self.product(8, 8, 8)
        c = aligned(np.full((8, 8), 7, np.float32))
        instance = mm.make(8, 8, 8)
        for code, arguments in [
            (NULL, (None, a, b, c, 8, 8, 8)),
            (INSTANCE, (aligned(1000), a, b, c, 8, 8, 8)),
            (INSTANCE, (aligned(1000, offset=4), a, b, c, 8, 8, 8)),
            (NULL, (instance, None, b, c, 8, 8, 8)),
            (NULL, (instance, a, b, None, 8, 8, 8)),
            (TENSOR_ALIGNMENT, (instance, aligned(a, offset=18), b, c, 8, 8, 8)),
            (SIZES, (instance, a, b, c, -1, 8, 8)),
            (SIZES, (instance, a, b, c, 2**62, 8, 8)),
        ]:
            self.assertEqual(mm.call("run", *arguments), code, mm.message(code))
        np.testing.assert_array_equal(c, 7)
        self.assertEqual(mm.call("run", instance, a, b, c, 8, 8, 8), 0)

    def test_an_arena_must_be_large_enough_for_the_workspace_of_the_call(self):
        text = "def twice(float(N) A) -> (B) { t(i) = A(i) * A(i)\n B(i) = t(i) + t(N - 1 - i) }\n"
        twice = Exported(text_file(self, text), "twice", "--schedule-text", "t: compute_root")
        small, large = twice.arena_bytes(10), twice.arena_bytes(10000)
        self.assertGreater(large, small + 30000)
        a, b = aligned(np.arange(10000, dtype=np.float32)), aligned(np.zeros(10000, np.float32))
        instance = twice.make(10)
        self.assertEqual(twice.call("run", instance, a, b, 10000), ARENA_BYTES)
        self.assertEqual(twice.call("run", twice.make(10000), a, b, 10000), 0)
        np.testing.assert_array_equal(b, a * a + (a * a)[::-1])

    def test_constants_are_arguments_of_init_which_packs_them(self):
        text = MM.replace("float(K,N) B", "const float(K,N) B")
        mm = Exported(text_file(self, text), "mm", "--size", "M=256,N=256,K=256")
        a, b = self.product(100, 90, 70)
        c = aligned(np.zeros((100, 70), np.float32))
        compiled = mm.path("mm.ferry")
        exported.ferry("compile", text_file(self, text), "--size", "M=256,N=256,K=256", "-o", compiled)
        for threads in (None, mm.start_threads(2)):
            instance = mm.make(100, 90, 70, arguments=(b, 90, 70), threads=threads, number=2)
            self.assertEqual(mm.call("run", instance, a, c, 100, 90, 70), 0)
            np.testing.assert_array_equal(c, exported.run(compiled, ["C"], A=a, B=b)[0])
            self.assertEqual(mm.call("run", instance, a, c, 100, 90, 69), CONSTANT_SIZES)
        arena = aligned(mm.arena_bytes(100, 90, 70))
        self.assertEqual(mm.init(arena, None, 90, 70), NULL)
        self.assertEqual(mm.init(arena[:256], b, 90, 70), ARENA_BYTES)
        self.assertEqual(mm.init(arena, aligned(b, offset=33), 90, 70), TENSOR_ALIGNMENT)
        shifted = mm.make(100, 90, 70, arguments=(aligned(b, offset=4), 90, 70))
        self.assertEqual(mm.call("run", shifted, aligned(a, offset=12), c, 100, 90, 70), 0)
        np.testing.assert_array_equal(c, exported.run(compiled, ["C"], A=a, B=b)[0])

    def test_a_violated_precondition_says_what_is_required(self):
        text = "def pair(float(N) A, float(M) C) -> (B) { B(i) = A(i) + C(i) where i in 0:N }\n"
        pair = Exported(text_file(self, text), "pair")
        a = aligned(np.ones(9, np.float32))
        code = pair.call("run", pair.make(9, 4), a, a, aligned(np.zeros(9, np.float32)), 9, 4)
        self.assertGreater(code, 0)
        self.assertIn("requires N <= 0 || N - 1 < M", pair.message(code))

    def test_every_code_has_a_message(self):
        mm = self.mm()
        self.assertEqual(mm.message(0), "success")
        self.assertIn("aligned", mm.message(ARENA_ALIGNMENT))
        for code in (-1000, 1000, 2**31 - 1, -2**31):
            self.assertEqual(mm.message(code), "unknown code")
        self.assertEqual(len({mm.message(code) for code in range(-11, 1)}), 12)

    def test_scalars_are_passed_by_value(self):
        text = "def scale(float s, int8 t, int64 N, float(N) A) -> (B) { B(i) = s * A(i) + t }\n"
        scale = Exported(text_file(self, text), "scale")
        a, b = aligned(np.arange(5, dtype=np.float32)), aligned(np.zeros(5, np.float32))
        self.assertEqual(scale.call("run", scale.make(5), 1.5, exported.ctypes.c_int8(-3), 5, a, b), 0)
        np.testing.assert_array_equal(b, a * 1.5 - 3)

    def test_programs_of_four_architectures_link_and_run(self):
        kernel = text_file(self, MM)
        for target, tools, emulator in TARGETS:
            with self.subTest(target), exported.tempfile.TemporaryDirectory() as folder:
                exported.ferry("export", kernel, "--target", target, "-o", folder, "--size", "M=256,N=256,K=256")
                self.assertLessEqual(undefined_names(tools, f"{folder}/mm.o"), LIBC | COMPILER | TLS)
                self.assertLessEqual(undefined_names(tools, f"{folder}/mm_threads.o"), LIBC | COMPILER | PTHREAD | TLS)
                defined = {line.split()[-1] for line in tool(tools + "nm", "-g", "--defined-only", f"{folder}/mm.o").splitlines()}
                self.assertEqual(defined, {"mm_" + name for name in ("arena_bytes", "init", "run", "message")})
                warnings = ["-Wall", "-Wextra", "-Werror", "-Wl,--fatal-warnings", "-Wl,-z,text"]
                objects = [f"{folder}/mm.o", f"{folder}/mm_threads.o", "-pthread"]
                for standard in ("-std=c99", "-std=c11"):
                    tool(tools + "gcc", standard, *warnings, "-fsyntax-only", "-x", "c", f"{folder}/mm.h")
                tool(tools + "gcc", "-std=c11", "-O1", *warnings, f"-I{folder}", "-pie", "-o", f"{folder}/driver",
                     HERE / "driver.c", *objects)
                self.assertEqual(tool(*emulator, f"{folder}/driver"), "fine\n")
                tool(tools + "gcc", "-shared", *warnings, "-o", f"{folder}/lib.so", *objects)
                # Without threads nothing of pthread is needed.
                tool(tools + "gcc", "-std=c11", "-nostartfiles", "-shared", *warnings, "-o", f"{folder}/alone.so", f"{folder}/mm.o")

    def test_tensors_may_begin_at_any_element(self):
        kernel = text_file(self, SLIDE)
        for target, tools, emulator in [*TARGETS, ("x86-64-v3", "x86_64-linux-gnu-", [])]:
            for options in ([], ["--fix", "N=203,K=7"]):
                with self.subTest(target, options=options), exported.tempfile.TemporaryDirectory() as folder:
                    exported.ferry("export", kernel, "--target", target, "-o", folder, *options)
                    defines = ["-DFIXED"] if options else []
                    tool(tools + "gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", *defines, f"-I{folder}", "-o",
                         f"{folder}/driver", HERE / "shifted_driver.c", f"{folder}/slide.o")
                    self.assertEqual(tool(*emulator, f"{folder}/driver"), "fine\n")

    def test_remainders_and_fused_sums_need_no_library_of_math_functions(self):
        text = """def rest(float(N) A, float(N) B, double(N) D, double(N) E) -> (F, G, H) {
          F(i) = fmod(A(i), B(i))
          G(i) = fmod(D(i), E(i))
          H(i) = fma(A(i), B(i), A(i))
        }
        """
        kernel = text_file(self, text)
        for target, tools, _ in TARGETS:
            with self.subTest(target), exported.tempfile.TemporaryDirectory() as folder:
                exported.ferry("export", kernel, "--target", target, "-o", folder)
                self.assertLessEqual(undefined_names(tools, f"{folder}/rest.o"), LIBC | COMPILER | TLS)
        # The baseline has no instruction for the sum.
        rest = Exported(kernel, "rest", "--target", TARGETS[0][0])
        random = np.random.default_rng(4)
        edges = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, 1.1754944e-38, 0.1]
        a, b = np.meshgrid(np.concatenate([edges, random.standard_normal(40) * 10.0 ** random.integers(-38, 38, 40)]),
                           np.concatenate([edges, random.standard_normal(40)]))
        # The sum in float64 of these lies in the middle of two floats, while the exact one does not.
        ties = 1 + np.arange(9, 99, 2) * 2.0 ** -23
        a, b = np.append(a, ties), np.append(b, 2.0 ** -24 / ties)
        doubles = [np.multiply(part.ravel(), scale) for part, scale in ((a, 1e200), (b, 1e-5))]
        arrays = [aligned(array) for array in (*(part.ravel().astype(np.float32) for part in (a, b)), *doubles)]
        n = arrays[0].size
        f, g, h = aligned(np.zeros(n, np.float32)), aligned(np.zeros(n)), aligned(np.zeros(n, np.float32))
        self.assertEqual(rest.call("run", rest.make(n), *arrays, f, g, h, n), 0)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(f, np.fmod(arrays[0], arrays[1]))
            np.testing.assert_array_equal(g, np.fmod(arrays[2], arrays[3]))
            # Of the exact sum, which long double has unless the product cancels or is far away, only the result is rounded.
            exact = arrays[0].astype(np.longdouble) * arrays[1] + arrays[0]
            np.testing.assert_array_equal(h, exact.astype(np.float32))

    def test_the_example_builds_and_runs_in_every_form(self):
        kernel = text_file(self, MM)
        for form in ([], ["--archive"], ["--shared"]):
            with self.subTest(form), exported.tempfile.TemporaryDirectory() as folder:
                exported.ferry("export", kernel, "-o", folder, "--name", "my product", *form)
                tool("make", "-C", folder, "CFLAGS=-std=c11 -Wall -Wextra -Werror", "example")
                printed = [tool(f"{folder}/example", number) for number in (1, 2)]
                self.assertIn("C[0] = ", printed[0])
                self.assertEqual(printed[0], printed[1])
                tool("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", f"{folder}/my_product.h")

    def test_the_same_kernel_exports_to_the_same_bytes(self):
        kernel = text_file(self, MM)
        contents = []
        for _ in range(2):
            with exported.tempfile.TemporaryDirectory() as folder:
                exported.ferry("export", kernel, "--target", "raspberry-pi-4", "-o", folder)
                contents.append({file.name: file.read_bytes() for file in Path(folder).iterdir()})
        self.assertEqual(contents[0], contents[1])

    def test_what_cannot_be_exported_is_refused_in_a_sentence(self):
        kernel = text_file(self, MM)
        with exported.tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/out"
            for target in ("cuda", "opencl", "c"):
                self.assertIn("expected a CPU", exported.ferry("export", kernel, "--target", target, "-o", out, expected=2))
            (Path(folder) / "saxpy.c").write_text("// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] y)\nvoid saxpy(void) {}\n")
            self.assertIn("can link", exported.ferry("export", f"{folder}/saxpy.c", "-o", out, expected=2))
            exported.ferry("compile", kernel, "-o", f"{folder}/mm.ferry")
            self.assertIn("source", exported.ferry("export", f"{folder}/mm.ferry", "-o", out, expected=2))
            self.assertFalse(Path(out).exists())


if __name__ == "__main__":
    unittest.main()
