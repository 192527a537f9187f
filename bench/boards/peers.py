"""What static.py compares ferry with: other code for the functions of kernels.tc, and ONNX Runtime for networks.

The programs are in peers/. Libraries, and what ONNX Runtime needs, are in folders that scripts/board_peers.sh makes.
"""
import shutil
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
ROOTS = PROJECT / "build/bench/boards"
# What Linux says about CPUs, which libraries read to choose their code.
FEATURES = {
    "aarch64": "fp asimd evtstrm crc32 cpuid",
    "armv7": "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae evtstrm crc32",
}
FEATURES_OF_PART = {"0xd0b": " atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"}
VERSION_OF_PART = {"0xc07": 7}
CPU = """processor\t: {number}
BogoMIPS\t: 108.00
Features\t: {features}
CPU implementer\t: 0x41
CPU architecture: {version}
CPU variant\t: 0x0
CPU part\t: {part}
CPU revision\t: 1

"""
IN_XNNPACK = ("product", "product_int8", "convolution", "pointwise", "depthwise", "depthwise_by_two", "softmax")
NOT_IN_C = ("product_float16", "product_bfloat16")


def root_of(board):
    return ROOTS / board.triple.split("-")[0]


def make_root(root, board):
    """Makes a folder in which an emulated program finds its libraries, and the board's CPUs."""
    for entry in root_of(board).iterdir():
        (root / entry.name).symlink_to(entry)
    (root / "proc").mkdir()
    features = FEATURES[root_of(board).name] + FEATURES_OF_PART.get(board.part, "")
    version = VERSION_OF_PART.get(board.part, 8)
    (root / "proc/cpuinfo").write_text("".join(
        CPU.format(number=number, features=features, version=version, part=board.part) for number in range(4)))


@dataclass(frozen=True)
class CompiledLoops:
    """Loops in C, as gcc compiles them."""
    name: str = "gcc -O3"

    def has(self, case, board):
        return not case.function.endswith(".onnx") and case.function not in NOT_IN_C

    def is_there(self, board):
        return shutil.which(board.tools + "gcc") is not None

    def command(self, case, board, folder, run):
        run(board.tools + "gcc", "-O3", "-ffast-math", "-static", *board.compiler_options, f"-I{PROJECT}",
            HERE / "peers/plain.c", "-lm", "-o", folder / "peer")
        return [], [folder / "peer", case.function, *case.sizes.values()]


@dataclass(frozen=True)
class Library:
    name: str
    functions: tuple
    source: str
    file: str  # in the folder of an architecture's libraries

    def has(self, case, board):
        return case.function in self.functions and bool(board.part)

    def is_there(self, board):
        return any(root_of(board).glob(f"usr/lib/*/{self.file}"))

    def command(self, case, board, folder, run):
        make_root(folder, board)
        library = next(folder.glob(f"usr/lib/*/{self.file}"))
        run(board.tools + "gcc", "-O2", *board.compiler_options, f"-I{PROJECT}", f"-I{folder / 'usr/include'}",
            HERE / "peers" / self.source, library, "-Wl,--allow-shlib-undefined", "-lm", "-o", folder / "peer")
        path = f"/{library.parent.relative_to(folder)}"
        return (["-L", folder, "-E", f"LD_LIBRARY_PATH={path}", "-E", "OPENBLAS_NUM_THREADS=1"],
                [folder / "peer", case.function, *case.sizes.values()])


@dataclass(frozen=True)
class OnnxRuntime:
    name: str = "ONNX Runtime"

    def has(self, case, board):
        return case.function.endswith(".onnx") and root_of(board).name == "aarch64"

    def is_there(self, board):
        return (root_of(board) / "python/onnxruntime").is_dir()

    def command(self, case, board, folder, run):
        make_root(folder, board)
        return (["-L", folder, "-E", f"PYTHONHOME={folder / 'usr'}", "-E", f"PYTHONPATH={folder / 'python'}"],
                [folder / "usr/bin/python3.11", HERE / "peers/onnxruntime_call.py", Path(case.function).resolve()])


PEERS = [
    CompiledLoops(),
    Library("OpenBLAS", ("product", "matrix_vector"), "openblas.c", "openblas-pthread/libblas.so.3"),
    Library("XNNPACK", IN_XNNPACK, "xnnpack.c", "libXNNPACK.so"),
    OnnxRuntime(),
]


def peers_of(case, board):
    return [peer for peer in PEERS if peer.has(case, board)]
