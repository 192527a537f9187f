// Reads what the machine code of an NVIDIA GPU says about its kernels: the compiler's report, which every cubin
// contains.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry {

struct CubinKernel {
  std::string name;
  std::uint32_t registers = 0;     // per thread
  std::uint32_t stack_bytes = 0;   // per thread, in memory: arrays and spilled registers
  std::uint64_t shared_bytes = 0;  // per block, excluding what a launch adds
};

// Returns the kernels sorted by name; fails with invalid_argument if the bytes are not a cubin. A cubin is an ELF file
// whose section .nv.info lists attributes {u8 format, u8 attribute, u16 bytes, payload}. The attributes of format 4
// used here name a symbol and a number: 0x2f registers, 0x11 stack (NVIDIA, "CUDA Binary Utilities", and the output of
// cuobjdump --dump-resource-usage).
Result<std::vector<CubinKernel>> cubin_kernels(std::span<const std::uint8_t> cubin);

}  // namespace ferry
