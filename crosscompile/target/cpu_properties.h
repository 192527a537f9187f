// Properties of a CPU that LLVM's own tables do not tell code generators and the C compiler, each named after its
// purpose. Only this file maps architectures to them.
#pragma once

#include "crosscompile/target/target.h"

#include <cstdint>
#include <string>

namespace ferry {

// Architectures that share instructions, by the name that parse_triple() gives them (Target::arch); other: no CPU, or
// one of which nothing is known here.
enum class CpuFamily : std::uint8_t { x86, arm, aarch64, riscv, wasm, other };
CpuFamily cpu_family(const Target& target);

// Instructions that load each lane of a vector of 32-bit or 64-bit elements from an address of its own.
bool has_gathers(const Target& target);

// Instructions for fmin and fmax of C; without them a compiler calls the library's.
bool has_float_min_max(const Target& target);

// LLVM's name of the calling convention where the triple does not say it: of RISC-V, in which registers floats are
// passed ("lp64d"). Empty elsewhere.
std::string calling_convention(const Target& target);

}  // namespace ferry
