"""Computes a network by ONNX Runtime in an emulator, and counts the blocks of one call.

    onnxruntime_call.py NET.onnx
"""
import ctypes
import sys

import numpy
import onnxruntime

COUNT_REQUEST = 0x66650000  # device-runtime/emulator/count_request.h
PERF_EVENT_OPEN = 241  # on 64-bit ARM
DTYPES = {"tensor(float)": numpy.float32, "tensor(uint8)": numpy.uint8, "tensor(int8)": numpy.int8}


def request_blocks():
    request = ctypes.c_long(COUNT_REQUEST)
    none = ctypes.c_long(-1)
    ctypes.CDLL(None).syscall(ctypes.c_long(PERF_EVENT_OPEN), request, none, request, none, request)


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    random = numpy.random.default_rng(0)
    binding = session.io_binding()
    for tensor in session.get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in tensor.shape]
        binding.bind_cpu_input(tensor.name, random.uniform(0, 2, shape).astype(DTYPES[tensor.type]))
    for tensor in session.get_outputs():
        binding.bind_output(tensor.name)
    # The first calls allocate memory.
    for _ in range(2):
        session.run_with_iobinding(binding)
    request_blocks()
    session.run_with_iobinding(binding)
    request_blocks()


main()
