// What the machine code of an NVIDIA GPU says of its kernels: the compiler's own report, which stands in every cubin.
#pragma once

#include "rpc/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry {

struct CubinKernel {
  std::string name;
  std::uint32_t registers = 0;     // a thread
  std::uint32_t stack_bytes = 0;   // a thread, in memory: arrays, and what the registers did not hold
  std::uint64_t shared_bytes = 0;  // a block, without what a launch adds
};

// In the order of their names. invalid_argument for what is no cubin. A cubin is an ELF file whose section .nv.info
// lists attributes {u8 format, u8 attribute, u16 bytes, payload}; those of format 4 used here name a symbol and a
// number: 0x2f registers, 0x11 stack (NVIDIA, "CUDA Binary Utilities", and what cuobjdump --dump-resource-usage
// prints).
Result<std::vector<CubinKernel>> cubin_kernels(std::span<const std::uint8_t> cubin);

}  // namespace ferry
