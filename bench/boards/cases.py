"""What static.py measures: kernels of kernels.tc with their sizes, and boards."""
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Case:
    name: str
    function: str  # kernels.tc defines it
    sizes: dict
    unit: str  # what a call's figures are divided by
    units: float  # how many of it a call computes
    has_int8_products: bool = False

    def sizes_text(self):
        return ",".join(f"{name}={size}" for name, size in self.sizes.items())


def multiply_adds(name, function, count, has_int8_products=False, **sizes):
    """A case that is counted in multiply-adds of four lanes, which one instruction on 128 bits of floats does."""
    return Case(name, function, sizes, "4 multiply-adds", count / 4, has_int8_products)


def product(name, function, m, n, k, has_int8_products=False):
    return multiply_adds(name, function, m * n * k, has_int8_products, M=m, N=n, K=k)


def floats(name, function, *shape, **sizes):
    return Case(name, function, sizes, "4 floats", prod(shape) / 4)


CASES = [
    product("product 256", "product", 256, 256, 256),
    product("product 500x333x77", "product", 500, 333, 77),
    product("product int8 256", "product_int8", 256, 256, 256, True),
    product("product uint8 256", "product_uint8", 256, 256, 256, True),
    product("product float16 256", "product_float16", 256, 256, 256),
    product("product bfloat16 256", "product_bfloat16", 256, 256, 256),
    multiply_adds("matrix by vector 1024x4096", "matrix_vector", 1024 * 4096, M=1024, K=4096),
    multiply_adds("convolution 3x3 64x56x56", "convolution", 64 * 64 * 56 * 56 * 9, C=64, O=64, S=56),
    multiply_adds("convolution 1x1 96 to 24", "pointwise", 96 * 24 * 3136, C=96, O=24, P=3136),
    multiply_adds("depthwise 3x3 32x112x112", "depthwise", 32 * 112 * 112 * 9, C=32, S=112),
    multiply_adds("depthwise by two 96x112x112", "depthwise_by_two", 96 * 56 * 56 * 9, C=96, S=112),
    multiply_adds("stencil 5x5 260x1028", "stencil", 256 * 1024 * 25, H=260, W=1028),
    floats("softmax 128x1000", "softmax", 128, 1000, M=128, N=1000),
    floats("layer norm 128x768", "layer_norm", 128, 768, M=128, N=768),
    floats("row sums 256x4096", "row_sums", 256, 4096, M=256, N=4096),
    floats("transpose 512x512", "transpose", 512, 512, M=512, N=512),
    floats("chain 65536", "chain", 65536, N=65536),
    floats("gathered sums 128x20x64", "gathered_sums", 128, 20, 64, V=1000, D=64, B=128, L=20),
    Case("argmax 262144", "argmax", {"M": 1, "N": 262144}, "float", 262144),
    Case("gray 256x1024", "gray", {"H": 256, "W": 1024}, "pixel", 256 * 1024),
    Case("sobel 258x1026", "sobel", {"H": 258, "W": 1026}, "pixel", 256 * 1024),
    Case("complex product 65536", "complex_product", {"N": 65536}, "number", 65536),
    Case("recurrence 8x65536", "recurrence", {"C": 8, "N": 65536}, "float", 8 * 65536),
    Case("histogram 262144", "histogram", {"N": 262144}, "byte", 262144),
]


@dataclass(frozen=True)
class Board:
    target: str  # as ferry names it
    tools: str  # the beginning of the names of the distribution's tools
    emulator: tuple
    triple: str  # for LLVM
    core: str  # LLVM's model for estimates; none if empty
    models_int8: bool = True  # whether that model is of use for products of bytes
    compiler_options: tuple = ()  # for the core
    part: str = ""  # what Linux calls the core


def arm64(target, cpu, core, part, **more):
    return Board(target, "aarch64-linux-gnu-", ("qemu-aarch64", "-cpu", cpu), "aarch64-linux-gnu", core,
                 compiler_options=("-mcpu=" + cpu,), part=part, **more)


def arm32(target, cpu, core, part, compiler_cpu, fpu):
    return Board(target, "arm-linux-gnueabihf-", ("qemu-arm", "-cpu", cpu), "armv7-linux-gnueabihf", core,
                 compiler_options=("-mcpu=" + compiler_cpu, "-mfpu=" + fpu), part=part)


def riscv(target, cpu, core):
    return Board(target, "riscv64-linux-gnu-", ("qemu-riscv64", "-cpu", cpu), "riscv64-linux-gnu", core)


# LLVM schedules for Cortex-A76 by the model of Cortex-A57; that of Neoverse N1 is of the same core. Its model of
# Cortex-A53 is of no use, and that of Cortex-A55 is nearer. It has none of Cortex-A7, and Cortex-A57's for 32 bits.
BOARDS = [
    arm64("raspberry-pi-5", "cortex-a76", "neoverse-n1", "0xd0b"),
    arm64("raspberry-pi-4", "cortex-a72", "cortex-a72", "0xd08"),
    arm64("raspberry-pi-3", "cortex-a53", "cortex-a55", "0xd03", models_int8=False),
    arm32("raspberry-pi-4-32bit", "max", "cortex-a57", "0xd08", "cortex-a72", "neon-fp-armv8"),
    arm32("raspberry-pi-3-32bit", "max", "", "0xd03", "cortex-a53", "neon-fp-armv8"),
    arm32("raspberry-pi-2", "cortex-a7", "", "0xc07", "cortex-a7", "neon-vfpv4"),
    riscv("riscv64-v", "rv64,v=true,vlen=128", "sifive-p670"),
    riscv("riscv64", "rv64", "sifive-u74"),
]
