"""The executed blocks of a call, as libferry_instructions.so writes them, and what LLVM's tools say about them."""
import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field

ITERATIONS = 60
# Everything that ferry's code may contain.
FEATURES = {"aarch64": "+v8.6a,+fullfp16,+dotprod,+i8mm,+bf16", "armv7": "+v8.2a,+neon,+vfp4,+dotprod,+fullfp16,+fp-armv8",
            "thumbv7": "+v8.2a,+neon,+vfp4,+dotprod,+fullfp16,+hwdiv", "riscv64": "+m,+a,+f,+d,+c,+v,+zfh,+zvfh"}
# Other names of an architecture whose functions may have instructions of two bytes.
SHORT = {"armv7": "thumbv7"}
# The vectors that llvm-mca assumes before the first instruction that says it.
REGION = {"riscv64": "# LLVM-MCA-RISCV-LMUL M1\n# LLVM-MCA-RISCV-SEW E32\n"}
STACK = {"aarch64": r"\[sp\b", "armv7": r"\[sp\b", "thumbv7": r"\[sp\b", "riscv64": r"\(sp\)"}


@dataclass
class Block:
    address: int
    entered: int
    encodings: tuple
    lines: list = field(default_factory=list)  # assembly
    cycles: float | None = None  # one iteration takes so many, if the block runs again and again

    @property
    def executed(self):
        return self.entered * len(self.encodings)


def read_blocks(file):
    """The blocks that a call executed, those with the most executed instructions first."""
    entered = Counter()
    for line in file.read_text().splitlines():
        count, address, *encodings = line.split()
        entered[int(address, 16), tuple(encodings)] += int(count)
    blocks = [Block(address, count, encodings) for (address, encodings), count in entered.items()]
    return sorted(blocks, key=lambda block: -block.executed)


def hottest(blocks, share):
    """The blocks that execute most, as many as execute this share of all instructions."""
    enough = share * sum_of(blocks)
    chosen, executed = [], 0
    for block in blocks:
        chosen.append(block)
        executed += block.executed
        if executed >= enough:
            break
    return chosen


def sum_of(blocks):
    return sum(block.executed for block in blocks)


def triple_of(triple, block):
    """Functions of the C library for 32-bit ARM are in Thumb, which has instructions of two bytes."""
    arch = arch_of(triple)
    is_short = any(len(encoding) == 4 for encoding in block.encodings)
    return triple.replace(arch, SHORT.get(arch, arch)) if is_short else triple


def arch_of(triple):
    return triple.split("-")[0]


def tool(words, text):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True)


def disassemble(triple, blocks):
    """Sets the blocks' lines, without instructions that LLVM does not know."""
    for one in {triple_of(triple, block) for block in blocks}:
        chosen = [block for block in blocks if triple_of(triple, block) == one]
        encodings = sorted({encoding for block in chosen for encoding in block.encodings})
        text = "\n".join(" ".join("0x" + e[i:i + 2] for i in range(0, len(e), 2)) for e in encodings) + "\n"
        done = tool(["llvm-mc-19", "--disassemble", f"-triple={one}", "-mattr=" + FEATURES[arch_of(one)]], text)
        unknown = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: warning", done.stderr, re.M)}
        known = [encoding for number, encoding in enumerate(encodings, 1) if number not in unknown]
        lines = [re.sub(r"\s+(//|@).*", "", line).strip() for line in done.stdout.splitlines()]
        lines = [line for line in lines if line and not line.startswith(".")]
        if len(lines) != len(known):
            raise RuntimeError(f"llvm-mc: expected {len(known)} instructions, got {len(lines)}")
        line_of = dict(zip(known, lines))
        for block in chosen:
            block.lines = [line_of[encoding] for encoding in block.encodings if encoding in line_of]


def estimate_cycles(triple, core, blocks):
    """Sets the cycles of blocks that were disassembled."""
    for one in {triple_of(triple, block) for block in blocks}:
        chosen = [block for block in blocks if triple_of(triple, block) == one and block.lines]
        text = ""
        for number, block in enumerate(chosen):
            text += f"# LLVM-MCA-BEGIN {number}\n" + REGION.get(arch_of(one), "")
            text += "\n".join(block.lines) + f"\n# LLVM-MCA-END {number}\n"
        done = tool(["llvm-mca-19", f"-mtriple={one}", f"-mcpu={core}", "-mattr=" + FEATURES[arch_of(one)], "-json",
                     f"-iterations={ITERATIONS}", "-skip-unsupported-instructions=parse-failure"], text)
        for region in json.loads(done.stdout)["CodeRegions"]:
            chosen[int(region["Name"])].cycles = region["SummaryView"]["TotalCycles"] / ITERATIONS


def cycles_of(blocks, chosen):
    """The estimated cycles of all blocks, from those that were chosen and have an estimate."""
    known = [block for block in chosen if block.cycles is not None]
    return sum(block.cycles * block.entered for block in known) * sum_of(blocks) / sum_of(known)


def spills_of(triple, block):
    """The number of instructions of a block that access the stack."""
    return sum(re.search(STACK[arch_of(triple)], line) is not None for line in block.lines)
