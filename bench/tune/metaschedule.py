#!/usr/bin/env python3
"""Tunes one kernel of operators.tc with TVM's MetaSchedule, or times what was found, for against_metaschedule.py.

    metaschedule.py search KERNEL SIZES FOLDER TRIALS BATCH   writes records to FOLDER until it is ended; says "begin" first
    metaschedule.py build KERNEL SIZES FOLDER                 compiles the best of them into FOLDER/best.so
    metaschedule.py time KERNEL SIZES FOLDER                  checks and times FOLDER/best.so, as asked on standard input

Code is for one thread of this machine's processor.
"""
import json
import sys
from pathlib import Path

import numpy as np
from operators import inputs_of, reference_of, shapes_of, sizes_of

NOTHING_FOUND = 3  # exit code of build
WORKERS, PATIENCE_S = 2, 300  # of builds and runs; on a busy machine their processes take minutes to start


def computation(kernel, sizes):
    """Returns the placeholders and the result, as a program that uses TVM would write them."""
    from tvm import te, topi, tirx
    shapes = shapes_of(kernel, sizes)
    data = [te.placeholder(shape, name=name) for name, shape in shapes.items()]
    if kernel == "product":
        k = te.reduce_axis((0, sizes["K"]), name="k")
        result = te.compute((sizes["M"], sizes["N"]), lambda m, n: te.sum(data[0][m, k] * data[1][k, n], axis=k))
    elif kernel == "batch_product":
        k = te.reduce_axis((0, sizes["K"]), name="k")
        result = te.compute((sizes["B"], sizes["M"], sizes["N"]),
                            lambda b, m, n: te.sum(data[0][b, m, k] * data[1][b, k, n], axis=k))
    elif kernel == "convolution":
        result = topi.nn.conv2d_nchw(data[0], data[1], 1, 1, 1)
    elif kernel == "pointwise":
        c = te.reduce_axis((0, sizes["C"]), name="c")
        result = te.compute((1, sizes["O"], sizes["S"], sizes["S"]),
                            lambda n, o, h, w: te.sum(data[0][n, c, h, w] * data[1][o, c], axis=c))
    elif kernel == "depthwise":
        padded = topi.nn.pad(data[0], (0, 0, 1, 1), (0, 0, 1, 1))
        i, j = te.reduce_axis((0, 3), name="i"), te.reduce_axis((0, 3), name="j")
        result = te.compute((1, sizes["C"], sizes["S"], sizes["S"]),
                            lambda n, c, h, w: te.sum(padded[n, c, h + i, w + j] * data[1][c, i, j], axis=[i, j]))
    elif kernel == "softmax":
        result = topi.nn.softmax(data[0], axis=1)
    elif kernel == "layer_norm":
        result = topi.nn.layer_norm(data[0], data[1], data[2], axis=[1], epsilon=1e-5)
    else:
        result = te.compute((sizes["N"],), lambda i: tirx.max(data[0][i] + data[1][i], tirx.const(0, "float32")))
    return te.create_prim_func([*data, result])


def target_here():
    import tvm
    return tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu(), "num-cores": 1})


def search(kernel, sizes, folder, trials, batch):
    from tvm.s_tir import meta_schedule as ms
    import tvm.s_tir.tensor_intrin  # takes seconds, which are not the search's
    function, target = computation(kernel, sizes), target_here()
    builder = ms.builder.LocalBuilder(max_workers=WORKERS, timeout_sec=PATIENCE_S)
    runner = ms.runner.LocalRunner(timeout_sec=PATIENCE_S)
    print("begin", flush=True)
    ms.tune_tir(function, target=target, work_dir=str(folder), max_trials_global=trials, num_trials_per_iter=batch,
                builder=builder, runner=runner, num_tuning_cores=WORKERS, seed=1)


def build(kernel, sizes, folder):
    import tvm
    from tvm.s_tir import meta_schedule as ms
    database = ms.database.JSONDatabase(str(folder / "database_workload.json"), str(folder / "database_tuning_record.json"))
    function, target = computation(kernel, sizes), target_here()
    schedule = ms.tir_integration.compile_tir(database, function, target)
    if schedule is None:
        sys.exit(NOTHING_FOUND)
    tvm.compile(schedule.mod, target=target).export_library(str(folder / "best.so"))
    records = database.get_all_tuning_records()
    answer = {"trials": len(records), "version": tvm.__version__, "target": str(target)}
    (folder / "best.json").write_text(json.dumps(answer))


def serve(kernel, sizes, folder):
    import tvm
    library = tvm.runtime.load_module(str(folder / "best.so"))
    inputs = inputs_of(kernel, sizes)
    expected = reference_of(kernel, sizes, inputs)
    tensors = [tvm.runtime.tensor(value) for value in inputs.values()]
    result = tvm.runtime.tensor(np.full(expected.shape, np.nan, "float32"))
    library["main"](*tensors, result)
    error = float(np.abs(result.numpy() - expected).max() / np.abs(expected).max())
    print(json.dumps({**json.loads((folder / "best.json").read_text()), "error": error}), flush=True)
    for line in sys.stdin:
        # Batches that last as long as ferry's: at least a millisecond.
        timer = library.time_evaluator("main", tvm.cpu(), number=1, repeat=int(line), min_repeat_ms=1)
        print(json.dumps(list(map(float, timer(*tensors, result).results))), flush=True)


def main():
    what, kernel, sizes, folder = sys.argv[1], sys.argv[2], sizes_of(sys.argv[3]), Path(sys.argv[4])
    if what == "search":
        search(kernel, sizes, folder, int(sys.argv[5]), int(sys.argv[6]))
    elif what == "build":
        build(kernel, sizes, folder)
    else:
        serve(kernel, sizes, folder)


if __name__ == "__main__":
    main()
