"""Exports kernels and networks with a ferry, and calls their shared libraries in this process."""
import atexit
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

FERRY = ""  # set by the tests from their command line
FOLDERS = {}  # of what was exported, by file and options
# Names of the C library, and of the compiler's where an architecture lacks an instruction.
LIBC = {"memcpy", "memset", "memmove"}
COMPILER = {"__aeabi_" + name for name in ("ldivmod", "uldivmod", "idiv", "uidiv", "idivmod", "uidivmod", "lmul", "memcpy",
                                          "memcpy4", "memcpy8", "memset", "memclr", "memclr4", "memclr8", "l2f", "lasr")}
PTHREAD = {"pthread_" + name for name in ("create", "join", "mutex_init", "mutex_lock", "mutex_unlock", "mutex_destroy",
                                          "cond_init", "cond_wait", "cond_broadcast", "cond_destroy")}
TLS = {"__aeabi_read_tp", "_GLOBAL_OFFSET_TABLE_"}
# target, prefix of the distribution's tools, emulator
TARGETS = [
    ("x86-64", "x86_64-linux-gnu-", []),
    ("armv7", "arm-linux-gnueabihf-", ["qemu-arm", "-cpu", "cortex-a7", "-L", "/usr/arm-linux-gnueabihf"]),
    ("raspberry-pi-4", "aarch64-linux-gnu-", ["qemu-aarch64", "-cpu", "cortex-a72", "-L", "/usr/aarch64-linux-gnu"]),
    ("riscv64", "riscv64-linux-gnu-", ["qemu-riscv64", "-cpu", "rv64", "-L", "/usr/riscv64-linux-gnu"]),
]


def ferry(*words, expected=0):
    """Runs ferry and returns what it printed, on both streams."""
    done = subprocess.run([FERRY, *map(str, words)], capture_output=True, text=True, timeout=280)
    assert done.returncode == expected, f"ferry {words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def tool(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd, timeout=280)
    assert done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def undefined_names(tools, file):
    return {line.split()[-1] for line in tool(tools + "nm", "-u", file).splitlines() if line.strip()}


def aligned(bytes_or_array, offset=0):
    """A copy of an array, or so many zero bytes, at an address `offset` behind a multiple of 64."""
    array = bytes_or_array if isinstance(bytes_or_array, np.ndarray) else np.zeros(bytes_or_array, np.uint8)
    memory = np.zeros(array.nbytes + 128, np.uint8)
    begin = -memory.ctypes.data % 64 + offset
    copy = memory[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def as_argument(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, float):
        return ctypes.c_float(value)
    return value if not isinstance(value, int) else ctypes.c_int64(value)


class Exported:
    """A function exported as a shared library, once for the same file and options. Arguments are arrays at aligned addresses, None, floats, and sizes."""

    def __init__(self, kernel, name, *options):
        key = (Path(kernel).name, Path(kernel).read_bytes(), *map(str, options))
        if key not in FOLDERS:
            FOLDERS[key] = Path(tempfile.mkdtemp())
            atexit.register(shutil.rmtree, FOLDERS[key])
            ferry("export", kernel, "--shared", "-o", FOLDERS[key], *options)
        self.folder = FOLDERS[key]
        self.name = name
        self.loaded = ctypes.CDLL(str(self.path(f"lib{name}.so")))

    def path(self, file):
        return self.folder / file

    def call(self, ending, *arguments, result=ctypes.c_int32):
        function = self.loaded[f"{self.name}_{ending}"]
        function.restype = result
        return function(*map(as_argument, arguments))

    def message(self, code):
        return self.call("message", ctypes.c_int32(code), result=ctypes.c_char_p).decode()

    def arena_bytes(self, *sizes, threads=1):
        return self.call("arena_bytes", *sizes, ctypes.c_int32(threads), result=ctypes.c_int64)

    def init(self, arena, *arguments, threads=None):
        """Returns the instance, or the code of an error."""
        instance = ctypes.c_void_p()
        code = self.call("init", arena, arena.nbytes, *arguments, threads, ctypes.byref(instance))
        return instance if code == 0 else code

    def make(self, *sizes, arguments=(), threads=None, number=1):
        """An instance with an arena for these sizes, which it keeps."""
        self.arena = aligned(self.arena_bytes(*sizes, threads=number))
        return self.init(self.arena, *arguments, threads=threads)

    def start_threads(self, number):
        pool = aligned(self.call("threads_bytes", ctypes.c_int32(number), result=ctypes.c_int64))
        assert self.call("threads_start", pool, pool.nbytes, ctypes.c_int32(number)) == 0
        return pool


def run(kernel, outputs, *options, **inputs):
    """What `ferry run` computes: the outputs with these names."""
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for name, array in inputs.items():
            np.save(f"{folder}/{name}.npy", array)
            words += ["--arg", f"{name}=@{folder}/{name}.npy"]
        for name in outputs:
            words += ["--out", f"{name}=@{folder}/{name}.out.npy"]
        ferry("run", kernel, "--quiet", *words, *options)
        return [np.load(f"{folder}/{name}.out.npy") for name in outputs]


def run_driver(folder, network, x, y_shape, target, form=""):
    """What network_driver.c computes of a network for one of TARGETS: float32 of this shape."""
    name, tools, emulator = target
    out = Path(folder) / f"{name}{form}"
    ferry("export", network, "--target", name, "--name", "net", "-o", out, *([form] if form else []))
    linked = {"": [out / "net.o", out / "net_threads.o"], "--archive": [out / "libnet.a"], "--shared": [out / "libnet.so"]}[form]
    if not form:
        assert undefined_names(tools, linked[0]) <= LIBC | COMPILER | TLS, undefined_names(tools, linked[0])
        assert undefined_names(tools, linked[1]) <= LIBC | COMPILER | PTHREAD | TLS
    x.tofile(out / "x.raw")
    tool(tools + "gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{out}", "-Wl,-z,text", f"-Wl,-rpath,{out}", "-o",
         out / "driver", Path(__file__).parent / "network_driver.c", *linked, "-pthread")
    y = np.zeros(y_shape, np.float32)
    tool(*emulator, out / "driver", len(x), x.size, y.size, out / "x.raw", out / "y.raw")
    return np.fromfile(out / "y.raw", np.float32).reshape(y_shape)
