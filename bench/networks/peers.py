#!/usr/bin/env python3
"""Runs one network with another library, as the process that bench/networks/compare.py measures.

    peers.py LIBRARY FILE.onnx THREADS

Reads a number of calls from each line of standard input and answers with a line of JSON: the seconds of each call. The
inputs are FILE.NAME.npy; the first line that it prints says which version runs and the result's largest difference from
FILE.y.npy, relative to the largest element. Inputs are set before the clock runs.
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np


Inputs = dict[str, np.ndarray]


class OnnxRuntime:
    def __init__(self, file: Path, inputs: Inputs, threads: int):
        import onnxruntime
        self.version = f"ONNX Runtime {onnxruntime.__version__}"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.inputs = inputs

    def set_inputs(self) -> None:
        pass

    def call(self) -> None:
        self.y, = self.session.run(None, self.inputs)

    def output(self) -> np.ndarray:
        return self.y


class OpenVino:
    def __init__(self, file: Path, inputs: Inputs, threads: int):
        import openvino
        self.version = f"OpenVINO {openvino.__version__.split('-')[0]}"
        core = openvino.Core()
        model = core.read_model(file)
        model.reshape({name: list(values.shape) for name, values in inputs.items()})
        # Without the precision, it computes in bfloat16 where the processor can. Without the last two, it takes the
        # threads of virtual processors for those of one core, and uses one of them.
        compiled = core.compile_model(model, "CPU", {
            "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
            "INFERENCE_NUM_THREADS": threads, "ENABLE_HYPER_THREADING": True, "ENABLE_CPU_PINNING": False})
        self.request = compiled.create_infer_request()
        for name, values in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(values))

    def set_inputs(self) -> None:
        pass

    def call(self) -> None:
        self.request.infer(share_outputs=True)

    def output(self) -> np.ndarray:
        return self.request.get_output_tensor().data


class Mnn:
    def __init__(self, file: Path, inputs: Inputs, threads: int):
        import MNN
        self.mnn = MNN
        self.version = f"MNN {MNN.version()}"
        converted = file.with_suffix(".mnn")
        if not converted.exists() or converted.stat().st_mtime < file.stat().st_mtime:
            subprocess.run([Path(sys.executable).with_name("mnnconvert"), "-f", "ONNX", "--modelFile", file, "--MNNModel",
                            converted, "--bizCode", "ferry"], check=True, stdout=subprocess.DEVNULL)
        self.network = MNN.Interpreter(str(converted))
        self.session = self.network.createSession({"backend": "CPU", "precision": "high", "numThread": threads})
        for name, values in inputs.items():
            self.network.resizeTensor(self.network.getSessionInput(self.session, name), values.shape)
        self.network.resizeSession(self.session)
        # It has no 64-bit integers.
        self.inputs = {name: values.astype(np.int32) if values.dtype == np.int64 else values
                       for name, values in inputs.items()}

    def tensor(self, values: np.ndarray):
        kind = self.mnn.Halide_Type_Int if values.dtype == np.int32 else self.mnn.Halide_Type_Float
        return self.mnn.Tensor(values.shape, kind, values, self.mnn.Tensor_DimensionType_Caffe)

    def set_inputs(self) -> None:
        """Calls overwrite the inputs."""
        for name, values in self.inputs.items():
            self.network.getSessionInput(self.session, name).copyFrom(self.tensor(values))

    def call(self) -> None:
        self.network.runSession(self.session)

    def output(self) -> np.ndarray:
        found = self.network.getSessionOutput(self.session, "y")
        host = self.tensor(np.zeros(found.getShape(), np.float32))
        found.copyToHostTensor(host)
        return np.array(host.getNumpyData()).reshape(found.getShape())


def inputs_of(file: Path) -> Inputs:
    names = (path.name.removeprefix(file.stem + ".").removesuffix(".npy") for path in file.parent.glob(f"{file.stem}.*.npy"))
    return {name: np.load(file.with_suffix(f".{name}.npy")) for name in names if name != "y"}


LIBRARIES = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "mnn": Mnn}


def main() -> int:
    library, file, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    # Some libraries print to standard output.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    peer = LIBRARIES[library](file, inputs_of(file), threads)
    peer.set_inputs()
    peer.call()
    expected = np.load(file.with_suffix(".y.npy"))
    error = float(np.abs(peer.output() - expected).max() / np.abs(expected).max())
    print(json.dumps({"version": peer.version, "error": error}), file=answers)
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            peer.set_inputs()
            start = time.perf_counter()
            peer.call()
            seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds), file=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
