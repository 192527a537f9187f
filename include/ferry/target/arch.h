// The architectures that code is generated for. A target's name for one is parsed once, where the target is resolved.
#pragma once

#include <cstdint>
#include <string_view>

namespace ferry {

enum class Arch : std::uint8_t {
  x86_64,
  i386,
  armv7,  // 32-bit ARM on Linux that passes floats in registers, on which an rpc_server runs
  arm,    // any other 32-bit ARM
  aarch64,
  riscv64,
  riscv32,
  wasm32,
  wasm64,
  other_cpu,  // one of which only LLVM knows something
  c,          // C source for any compiler
  cuda,
  opencl,
};

// Returns the architecture that Manifest::arch, or LLVM's name of a CPU's architecture, names.
Arch arch_named(std::string_view name);

}  // namespace ferry
