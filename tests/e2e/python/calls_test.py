"""calls_test.py SOURCE_DIR BINARY_DIR: functions that are called from Python compute what NumPy computes."""
import gc
import os
import sys
import threading
import unittest

import ml_dtypes
import numpy as np

import ferry

SOURCE, BINARY = sys.argv[1:3]
del sys.argv[1:3]
os.environ.pop("FERRY_REMOTE", None)

MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
ADD = "def add({0}(N) A, {0}(N) B) -> (C) {{ C(i) = A(i) + B(i) }}"
DTYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


class Exporter:
    """An array that only DLPack hands out."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class CallsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ferry.connect()
        cls.mm = cls.device.compile(MATMUL)["mm"]
        cls.random = np.random.default_rng(7)

    @classmethod
    def tearDownClass(cls):
        del cls.mm, cls.device

    def normal(self, *shape):
        return self.random.normal(size=shape).astype(np.float32)

    def assert_product(self, a, b, **how):
        c = self.mm(a, b, **how)
        expected = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
        self.assertEqual(c.shape, expected.shape)
        np.testing.assert_allclose(c.numpy(), expected, rtol=1e-5, atol=1e-4)

    def test_products_of_odd_sizes_are_those_of_numpy(self):
        for m, k, n in ((1, 1, 1), (7, 4096, 3), (37, 41, 1), (0, 5, 3), (4, 0, 2)):
            with self.subTest(m=m, k=k, n=n):
                self.assert_product(self.normal(m, k), self.normal(k, n))

    def test_arrays_of_any_layout_are_taken(self):
        a, b = self.normal(6, 10), self.normal(10, 7)
        self.assert_product(a[::-1], b)
        self.assert_product(a[::2], np.asfortranarray(b))
        self.assert_product(self.normal(10, 6).T, self.normal(10, 14)[:, ::-2])

    def test_read_only_arrays_and_objects_of_dlpack_are_taken(self):
        a, b = self.normal(3, 4), self.normal(4, 5)
        a.flags.writeable = False
        self.assert_product(a, b)
        c = self.mm(Exporter(b.T.copy()), self.normal(4, 2))
        self.assertEqual(c.shape, (5, 2))

    def test_every_type_of_elements_goes_there_and_back(self):
        for name in DTYPES:
            with self.subTest(dtype=name):
                a = self.random.integers(0, 50, 11).astype(name)
                add = self.device.compile(ADD.format(name))["add"]
                result = add(a, a).numpy()
                self.assertEqual(result.dtype, a.dtype)
                np.testing.assert_array_equal(result, a + a)

    def test_bfloat16_is_that_of_ml_dtypes(self):
        a = self.normal(9).astype(ml_dtypes.bfloat16)
        result = self.device.compile(ADD.format("bfloat16"))["add"](a, a).numpy()
        self.assertEqual(result.dtype, a.dtype)
        np.testing.assert_array_equal(result.astype(np.float32), 2 * a.astype(np.float32))

    def test_conditions_are_arrays_of_bool(self):
        less = self.device.compile("def less(float(N) A, float(N) B) -> (C) { C(i) = A(i) < B(i) }")["less"]
        a, b = self.normal(13), self.normal(13)
        result = less(a, b).numpy()
        self.assertEqual(result.dtype, np.bool_)
        np.testing.assert_array_equal(result, a < b)

    def test_numbers_lists_and_names_are_taken(self):
        scale = self.device.compile("def scale(float(N) A, float a, int n) -> (B) { B(i) = A(i) * a + float(n) }")["scale"]
        self.assertEqual(scale([1, 2, 3], 2.5, 4).numpy().tolist(), [6.5, 9.0, 11.5])
        self.assertEqual(scale((1, 2), np.float64(2), np.int32(1)).numpy().tolist(), [3.0, 5.0])
        self.assertEqual(scale(np.float32([3]), n=1, a=3).numpy().tolist(), [10.0])
        self.assert_product(self.normal(2, 3), self.normal(3, 2))

    def test_tensors_stay_on_the_device_from_call_to_call(self):
        a, b, c = self.normal(5, 6), self.normal(6, 7), self.normal(7, 2)
        on_device = self.device.put(b)
        result = self.mm(self.mm(a, on_device), c)
        self.assertEqual(repr(result), "<ferry.Tensor f32[5,2]>")
        np.testing.assert_allclose(np.asarray(result), a @ b @ c, rtol=1e-4, atol=1e-4)
        on_device.write(2 * b)
        np.testing.assert_allclose(self.mm(a, on_device).numpy(), 2 * (a @ b), rtol=1e-4, atol=1e-4)
        with self.assertRaises(ValueError):
            np.asarray(result, copy=False)

    def test_large_tensors_of_this_machines_server_are_not_copied(self):
        a, b = self.normal(301, 211), self.normal(211, 307)
        on_device = self.device.put(a)
        result = self.mm(on_device, b)
        array = result.numpy()
        self.assertTrue(np.shares_memory(array, result.numpy()))
        self.assertTrue(np.shares_memory(array, np.from_dlpack(result)))
        self.assertTrue(np.shares_memory(array, np.asarray(result, copy=False)))
        self.assertFalse(np.shares_memory(array, np.array(result)))
        np.testing.assert_allclose(array, a @ b, rtol=1e-4, atol=1e-4)
        view = on_device.numpy()
        view *= 2  # what the next call reads
        self.assertIs(self.mm(on_device, b, out=result), result)
        np.testing.assert_allclose(array, 2 * (a @ b), rtol=1e-4, atol=1e-4)
        self.assertFalse(np.shares_memory(self.device.put(a).numpy(), a))
        small = self.device.put(a[:3])
        self.assertFalse(np.shares_memory(small.numpy(), small.numpy()))
        with self.assertRaises(ValueError):
            np.asarray(small, copy=False)
        with ferry.connect() as device:
            kept = device.put(a).numpy()
        np.testing.assert_array_equal(kept, a)  # after the session

    def test_several_outputs_are_a_tuple_in_the_order_of_their_names(self):
        both = self.device.compile("def both(float(N) A) -> (B, C) { B(i) = A(i) + 1; C(i) = A(i) * 2 }")["both"]
        a = self.normal(5)
        self.assertEqual(both.outputs, ["B", "C"])
        b, c = both(a)
        np.testing.assert_array_equal(b.numpy(), a + 1)
        np.testing.assert_array_equal(c.numpy(), a * 2)

    def test_mistakes_name_what_was_expected(self):
        a = self.normal(3, 4)
        with self.assertRaisesRegex(TypeError, r"expected 2 arguments, got 1: mm\(in f32\[M,K\] A"):
            self.mm(a)
        with self.assertRaisesRegex(TypeError, "expected a value for B"):
            self.mm(a, C=a)
        with self.assertRaisesRegex(TypeError, "expected a value for B"):
            self.mm(a, A=a)
        with self.assertRaisesRegex(TypeError, "expected an array for B, got object"):
            self.mm(a, object())
        with self.assertRaises(ferry.UsageError) as caught:
            self.mm(a.astype(np.float64), self.normal(4, 2))
        self.assertIsInstance(caught.exception, ValueError)
        self.assertEqual(caught.exception.code, "invalid_argument")
        with self.assertRaises(KeyError):
            self.device.compile(MATMUL)["nn"]

    def test_an_error_of_compilation_has_its_place(self):
        with self.assertRaises(ferry.CompileError) as caught:
            self.device.compile("def f(float(N) A) -> (B) {\n  B(i) = C(i)\n}", name="f.tc")
        self.assertEqual((caught.exception.file, caught.exception.line, caught.exception.column), ("f.tc", 2, 10))

    def test_threads_share_a_device(self):
        failures = []

        def work(seed):
            random = np.random.default_rng(seed)
            try:
                for _ in range(20):
                    a = random.normal(size=(9, 5)).astype(np.float32)
                    b = random.normal(size=(5, 4)).astype(np.float32)
                    np.testing.assert_allclose(self.mm(a, b).numpy(), a @ b, rtol=1e-4, atol=1e-4)
            except BaseException as failure:  # the main thread reports it
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_memory_of_tensors_that_are_gone_is_used_again(self):
        megabytes = np.zeros(64 << 18, np.float32)  # 64 MiB, of which no machine has a thousand
        for _ in range(400):
            self.device.put(megabytes[: 1 << 20])
        for _ in range(20):
            self.device.put(megabytes)
        gc.collect()


if __name__ == "__main__":
    unittest.main()
