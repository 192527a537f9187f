"""look_inside_test.py FERRY: tensors inside of networks as files, results held against files and against ONNX Runtime, and pictures
and sound as inputs."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import wave
import zlib
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

FERRY = sys.argv.pop(1)
RANDOM = np.random.default_rng(7)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def small_network():
    """A convolution whose group takes in the nodes that follow it, and a mean."""
    weights = {"w": floats(4, 3, 3, 3), "b": floats(4), "s": floats(1, 4, 1, 1)}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["/conv/Conv_output_0"], name="/conv/Conv", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["/conv/Conv_output_0"], ["/act/Relu_output_0"], name="/act/Relu"),
             helper.make_node("Mul", ["/act/Relu_output_0", "s"], ["scaled"], name="/Mul"),
             helper.make_node("ReduceMean", ["scaled"], ["y"], name="/mean", axes=[2, 3], keepdims=0)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
                              [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), weights


def convolution(x, weights):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64)
    result = np.zeros((x.shape[0], 4, *x.shape[2:]))
    for i in range(3):
        for j in range(3):
            result += np.einsum("nchw,oc->nohw", padded[:, :, i:i + x.shape[2], j:j + x.shape[3]], weights["w"][:, :, i, j])
    return result + weights["b"].reshape(1, 4, 1, 1)


def png(pixels):
    """A PNG file with the pixels of an array of uint8, [H, W, 3]."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def identity(name, dtype, shape):
    """A network that returns its input as floats."""
    nodes = [helper.make_node("Cast", [name], ["y"], to=TensorProto.FLOAT)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(name, dtype, shape)],
                              [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {**os.environ, "FERRY_PYTHON": sys.executable}

    def path(self, name):
        return str(self.folder / name)

    def ferry(self, *words, code=0):
        done = subprocess.run([FERRY, *words], capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr


class LookInsideTest(Case):
    def setUp(self):
        super().setUp()
        model, self.weights = small_network()
        onnx.save(model, self.path("net.onnx"))
        self.x = floats(2, 3, 7, 5)
        np.save(self.path("x.npy"), self.x)
        self.call = ["run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}"]

    def test_a_tensor_inside_of_a_group_is_written_by_its_name_and_by_its_nodes(self):
        self.ferry(*self.call, "--out", f"/act/Relu_output_0=@{self.path('relu.npy')}", "--out", f"/conv/Conv=@{self.path('conv.npy')}")
        expected = convolution(self.x, self.weights)
        np.testing.assert_allclose(np.load(self.path("conv.npy")), expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(np.load(self.path("relu.npy")), np.maximum(expected, 0), rtol=1e-4, atol=1e-4)

    def test_what_the_network_does_not_compute_is_refused_with_the_nearest_names(self):
        self.assertIn("/act/Relu_output_0", self.ferry(*self.call, "--out", f"/act/Relu_output=@{self.path('o.npy')}", code=2))

    def test_a_dump_has_all_tensors_and_the_next_run_is_held_against_it(self):
        self.ferry(*self.call, "--dump", self.path("dump"))
        self.assertEqual(sorted(file.name for file in (self.folder / "dump").iterdir()),
                         ["_act_Relu_output_0.npy", "_conv_Conv_output_0.npy", "scaled.npy", "x.npy", "y.npy"])
        expected = np.maximum(convolution(self.x, self.weights), 0) * self.weights["s"]
        np.testing.assert_allclose(np.load(self.path("dump/scaled.npy")), expected, rtol=1e-4, atol=1e-4)
        fine = self.ferry(*self.call, "--expect", self.path("dump"))
        self.assertEqual(fine.count("fine: all"), 4, fine)
        wrong = np.load(self.path("dump/_act_Relu_output_0.npy"))
        wrong[1, 2, 3, 4] += 1
        np.save(self.path("dump/_act_Relu_output_0.npy"), wrong)
        said = self.ferry(*self.call, "--expect", self.path("dump"), code=1)
        self.assertIn("wrong result: /act/Relu_output_0[1,2,3,4] is ", said)
        self.assertIn("1 of 280 elements wrong", said)
        np.save(self.path("dump/nothing.npy"), wrong)
        self.assertIn("nothing.npy", self.ferry(*self.call, "--expect", self.path("dump"), code=2))

    def test_results_are_held_against_files_within_tolerances(self):
        y = (np.maximum(convolution(self.x, self.weights), 0) * self.weights["s"]).mean((2, 3))
        np.save(self.path("y.npy"), y)  # doubles are compared as numbers
        self.ferry(*self.call, "--expect", f"y=@{self.path('y.npy')}")
        np.save(self.path("y.npy"), y * 1.01)
        self.ferry(*self.call, "--expect", f"y=@{self.path('y.npy')}", code=1)
        self.ferry(*self.call, "--expect", f"y=@{self.path('y.npy')}", "--rtol", "0.02")
        np.save(self.path("y.npy"), y[:, :3])
        self.assertIn("expected f64[2,3]", self.ferry(*self.call, "--expect", f"y=@{self.path('y.npy')}", code=1))

    def test_a_network_is_held_against_onnx_runtime_with_all_that_is_inside(self):
        said = json.loads(self.ferry(*self.call, "--against", "onnxruntime", "--dump", self.path("dump"), "--json"))
        self.assertEqual([check["output"] for check in said["check"]], ["y", "/conv/Conv_output_0", "/act/Relu_output_0", "scaled"])
        self.assertEqual([(check["wrong"], check["against"]) for check in said["check"]], [(0, "onnxruntime")] * 4)
        self.environment["FERRY_PYTHON"] = self.path("no-python")
        self.assertIn("FERRY_PYTHON", self.ferry(*self.call, "--against", "onnxruntime", code=2))
        fake = self.folder / "no-python"
        fake.write_text("#!/bin/sh\necho No module named onnxruntime\nexit 3\n")
        fake.chmod(0o755)
        self.assertIn("has no ONNX Runtime (No module named onnxruntime)", self.ferry(*self.call, "--against", "onnxruntime", code=2))

    def test_two_networks_are_compared(self):
        model, _ = small_network()
        onnx.save(model, self.path("other.onnx"))
        words = ["compare", self.path("net.onnx"), self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--processes", "3",
                 "--json"]
        self.assertIn("verdict", self.ferry(*words))
        words[2] = self.path("other.onnx")
        self.assertIn("y[", self.ferry(*words, code=1))


class NetworkTest(Case):
    def lookup(self):
        table = floats(2, 3)
        nodes = [helper.make_node("Reshape", ["types", "flat"], ["all"], name="/flat"),
                 helper.make_node("Gather", ["table", "all"], ["y"], name="/embed/Gather")]
        graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("types", TensorProto.INT64, ["N", 5])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["M", 3])],
                                  [onnx.numpy_helper.from_array(table, "table"),
                                   onnx.numpy_helper.from_array(np.array([-1], np.int64), "flat")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path("net.onnx"))
        return table

    def test_indices_that_nobody_describes_are_valid(self):
        table = self.lookup()
        self.ferry("run", self.path("net.onnx"), "--size", "N=7", "--out", f"y=@{self.path('y.npy')}")
        y = np.load(self.path("y.npy"))
        self.assertEqual(len({tuple(row) for row in y}), 2)
        self.assertTrue({tuple(row) for row in y} <= {tuple(row) for row in table})

    def test_an_index_that_is_out_of_bounds_is_told_in_the_model_s_words(self):
        self.lookup()
        said = self.ferry("run", self.path("net.onnx"), "--arg", "types=i64[1,5]:iota", code=1)
        self.assertRegex(said, "net: /embed/Gather: an index in '(types|all)' is outside of the 2 entries of 'table'")

    def test_inspect_says_which_output_tells_how_much_of_another_is_there(self):
        nodes = [helper.make_node("NonZero", ["x"], ["y"], name="/NonZero")]
        graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
                                  [helper.make_tensor_value_info("y", TensorProto.INT64, [1, None])])
        net = self.path("net.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), net)
        self.assertIn("y i64[1,N] at most, as y.shape says\n", self.ferry("inspect", net))
        y, shape = json.loads(self.ferry("inspect", net, "--json"))["outputs"]
        self.assertEqual((y["counted_by"], shape["name"], shape["counted_by"]), ("y.shape", "y.shape", None))

    def test_a_refusal_names_the_size_that_would_help(self):
        node = helper.make_node("Squeeze", ["x"], ["y"], name="/squeeze")
        graph = helper.make_graph([node], "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, "H", 8])],
                                  [helper.make_empty_tensor_value_info("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path("net.onnx"))
        said = self.ferry("run", self.path("net.onnx"), "--size", "H=8", code=2)
        self.assertIn("node '/squeeze' (Squeeze, opset 17): ", said)
        self.assertIn("ferry imports this network if H is the same in every call: --fix H=SIZE", said)
        self.ferry("run", self.path("net.onnx"), "--fix", "H=8")


class MediaTest(Case):
    def result(self, *words):
        self.ferry("run", self.path("net.onnx"), *words, "--out", f"y=@{self.path('y.npy')}")
        return np.load(self.path("y.npy"))

    def picture(self, name, height, width):
        pixels = RANDOM.integers(0, 256, (height, width, 3)).astype(np.uint8)
        (self.folder / name).write_bytes(png(pixels))
        return pixels

    def test_pictures_have_the_layout_and_the_type_of_the_input(self):
        pixels = self.picture("a.png", 5, 7)
        for dtype, scale in ((TensorProto.FLOAT, 255), (TensorProto.UINT8, 1)):
            onnx.save(identity("x", dtype, ["N", 3, "H", "W"]), self.path("net.onnx"))
            first = self.result("--arg", f"x=@{self.path('a.png')}")
            np.testing.assert_allclose(first, pixels.transpose(2, 0, 1)[None] / np.float32(scale), rtol=1e-6)
            onnx.save(identity("x", dtype, [1, 5, 7, 3]), self.path("net.onnx"))
            np.testing.assert_allclose(self.result("--arg", f"x=@{self.path('a.png')}"), pixels[None] / np.float32(scale), rtol=1e-6)

    def test_pictures_are_resized_cropped_and_normalised(self):
        flat = np.zeros((64, 96, 3), np.uint8)
        flat[:, :] = (10, 100, 200)
        (self.folder / "flat.png").write_bytes(png(flat))
        onnx.save(identity("x", TensorProto.FLOAT, [1, 3, 28, 28]), self.path("net.onnx"))
        given = ["--arg", f"x=@{self.path('flat.png')}"]
        mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
        expected = (np.array([10, 100, 200]) / 255 - mean) / deviation
        y = self.result(*given, "--preprocess", "imagenet")
        np.testing.assert_allclose(y, np.broadcast_to(expected.reshape(1, 3, 1, 1), y.shape), rtol=1e-5)
        y = self.result(*given, "--preprocess", "raw,channels=bgr,fit=stretch")
        np.testing.assert_allclose(y[0, :, 0, 0], [200, 100, 10])
        y = self.result(*given, "--preprocess", "raw,fit=letterbox")
        self.assertEqual([y[0, 0, row, 3] for row in (0, 4, 5, 14, 22, 23, 27)], [114, 114, 10, 10, 10, 114, 114])
        self.assertIn("expected a picture of 28x28, got 96x64",
                      self.ferry("run", self.path("net.onnx"), *given, "--preprocess", "fit=none", code=2))
        self.assertIn("expected imagenet", self.ferry("run", self.path("net.onnx"), *given, "--preprocess", "imagnet", code=2))

    def test_halving_a_picture_takes_the_weighted_mean_of_its_neighbours(self):
        pixels = self.picture("a.png", 8, 8)
        onnx.save(identity("x", TensorProto.FLOAT, [1, 4, 4, 3]), self.path("net.onnx"))
        y = self.result("--arg", f"x=@{self.path('a.png')}", "--preprocess", "raw")
        weights = np.array([1, 3, 3, 1]) / 8
        inner = np.zeros((2, 2, 3))
        for i in range(2):
            for j in range(2):
                part = pixels[2 * i + 1:2 * i + 5, 2 * j + 1:2 * j + 5].astype(float)
                inner[i, j] = np.einsum("i,j,ijc->c", weights, weights, part)
        np.testing.assert_allclose(y[0, 1:3, 1:3], inner, atol=1.01)

    def test_a_folder_of_pictures_is_a_batch(self):
        (self.folder / "photos").mkdir()
        all_of = [self.picture(f"photos/{name}.png", 6, 6) for name in ("a", "b", "c")]
        onnx.save(identity("x", TensorProto.UINT8, ["N", 6, 6, 3]), self.path("net.onnx"))
        np.testing.assert_array_equal(self.result("--arg", f"x=@{self.path('photos')}"), np.stack(all_of))
        onnx.save(identity("x", TensorProto.UINT8, [2, 6, 6, 3]), self.path("net.onnx"))
        self.assertIn("expected 2 pictures", self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('photos')}", code=2))

    def test_sound_has_samples_from_minus_one_to_one_or_whole_numbers(self):
        samples = RANDOM.integers(-32768, 32768, (50, 2)).astype(np.int16)
        with wave.open(self.path("a.wav"), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(samples.tobytes())
        given = ["--arg", f"x=@{self.path('a.wav')}"]
        onnx.save(identity("x", TensorProto.FLOAT, [1, "T"]), self.path("net.onnx"))
        np.testing.assert_allclose(self.result(*given), samples.mean(1)[None] / 32768, atol=1e-6)
        onnx.save(identity("x", TensorProto.FLOAT, [1, 2, 60]), self.path("net.onnx"))
        expected = np.pad(samples.T[None] / 32768, ((0, 0), (0, 0), (0, 10)))
        np.testing.assert_allclose(self.result(*given), expected, atol=1e-6)
        onnx.save(identity("x", TensorProto.FLOAT, ["T"]), self.path("net.onnx"))
        self.assertEqual(self.result(*given, "--preprocess", "rate=16000").shape, (100,))

    def test_arrays_are_taken_from_archives_by_the_name_of_the_input(self):
        onnx.save(identity("x", TensorProto.FLOAT, ["N", 3]), self.path("net.onnx"))
        x = floats(40, 3)
        for save in (np.savez, np.savez_compressed):
            save(self.path("a.npz"), z=floats(2), x=x)
            np.testing.assert_array_equal(self.result("--arg", f"x=@{self.path('a.npz')}"), x)
        np.savez(self.path("a.npz"), z=x, w=x)
        self.assertIn("expected an array 'x' in it, got: w, z",
                      self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('a.npz')}", code=2))

    def test_damaged_files_are_refused(self):
        onnx.save(identity("x", TensorProto.UINT8, ["N", 6, 6, 3]), self.path("net.onnx"))
        self.picture("a.png", 6, 6)
        np.savez_compressed(self.path("b.npz"), x=floats(40, 3))
        for name in ("a.png", "b.npz"):
            whole = (self.folder / name).read_bytes()
            for damaged in (whole[:len(whole) // 2], whole[:60] + bytes([whole[60] ^ 1]) + whole[61:]):
                (self.folder / name).write_bytes(damaged)
                self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path(name)}", code=2)

    def test_the_greatest_elements_have_names(self):
        model = identity("x", TensorProto.FLOAT, ["N", 4])
        onnx.save(model, self.path("net.onnx"))
        np.save(self.path("x.npy"), np.array([[0.1, 0.4, 0.2, 0.3], [4, 3, 2, 1]], np.float32))
        (self.folder / "labels.txt").write_text("cat\ndog\nbird\n")
        words = ["run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--top", "2", "--labels", self.path("labels.txt")]
        said = self.ferry(*words)
        self.assertIn("y[0]  0.400  dog (1)\ny[0]  0.300  3\ny[1]  4  cat (0)", said.replace("4.00", "4"))
        rows = json.loads(self.ferry(*words, "--json"))["outputs"][0]["top"]
        self.assertEqual([[(one["index"], one["label"]) for one in row] for row in rows],
                         [[(1, "dog"), (3, None)], [(0, "cat"), (1, "dog")]])


if __name__ == "__main__":
    unittest.main()
