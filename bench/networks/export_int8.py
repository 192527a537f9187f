#!/usr/bin/env python3
"""Quantizes networks that export.py wrote, to 8-bit integers with a scale for each channel of the weights.

    build/bench/networks/bin/python bench/networks/export_int8.py FOLDER [NAME ...]

Reads FOLDER/NAME.onnx (default: resnet18) and writes NAME_int8.onnx: QuantizeLinear and DequantizeLinear around each
operator (QDQ), activations as uint8 and weights as int8, by ONNX Runtime's quantization tools. They choose the scales of activations
from seeded random inputs. Beside it stand NAME_int8.x.npy, an input, and NAME_int8.y.npy, what ONNX Runtime computes from
it without saturating: by default it adds pairs of products as int16 on CPUs without VNNI.
"""
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

SAMPLES = 8


class RandomInputs(CalibrationDataReader):
    """Inputs of one shape, from a seeded generator."""

    def __init__(self, shape: tuple[int, ...]):
        random = np.random.default_rng(0)
        self.inputs = iter([{"x": random.standard_normal(shape, dtype=np.float32)} for _ in range(SAMPLES)])

    def get_next(self):
        return next(self.inputs, None)


def quantize(folder: Path, name: str) -> None:
    prepared, file = folder / f"{name}_prepared.onnx", folder / f"{name}_int8.onnx"
    x = np.load(folder / f"{name}.x.npy")
    quant_pre_process(str(folder / f"{name}.onnx"), str(prepared))
    quantize_static(str(prepared), str(file), RandomInputs(x.shape), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    prepared.unlink()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    np.save(folder / f"{name}_int8.x.npy", x)
    np.save(folder / f"{name}_int8.y.npy", session.run(None, {"x": x})[0])
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[2:] or ["resnet18"]:
        quantize(Path(sys.argv[1]), name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
