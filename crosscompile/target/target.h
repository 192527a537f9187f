// What code is compiled for. Plain data; resolve.h makes one from text or from what a device says it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

struct Target {
  std::string text;    // as resolved, printable and parseable again
  std::string arch;    // "x86_64", "armv7", "aarch64", "riscv64"; "c", "cuda", "opencl"; LLVM's name for other CPUs
  std::string triple;  // normalised, four parts
  std::string cpu;     // LLVM's name
  std::vector<std::string> features;  // all that are on, LLVM's spelling without the plus, sorted
  std::uint32_t pointer_bits = 64;
  std::uint32_t vector_bits =
      128;  // of the registers that vector code should use; 8, the smallest lane: there are none
  std::uint32_t vector_registers = 16;
  bool has_masks = false;  // vector loads and stores with a mask cost nothing extra
  // What comes out is a text in C or a dialect of it: another compiler brings the math functions and the conversions of
  // narrow floats.
  bool is_source = false;
  std::vector<std::string> gpus;  // of "cuda", what code is made for: "sm_80"
  std::string device;             // of a GPU: which one a session opens, "cuda" or "cuda:1"
  // What a block may have of a GPU; 0 when only the device knows.
  std::int64_t block_threads = 0, block_shared_bytes = 0;
  // No rpc_server runs there: an object or its assembly can be made, but no module.
  bool objects_only = false;
  // Loops are not cut, unrolled or made vectors of, for the sake of who reads them; what comes behind can do that.
  bool keeps_loops = false;
  // Hints for default schedules; 0 when unknown.
  std::uint64_t l1_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint32_t threads = 0;

  // A module for it has plans of kernels, and no code for a CPU.
  bool is_gpu() const { return arch == "opencl" || arch == "cuda"; }
  // Of "cuda", the lowest compute capability of its GPUs: 80 for sm_80; 0 for anything else.
  int capability() const;
  bool has(const std::string& feature) const;  // "avx512f"
  // Of one vector register; 1 where elements are as large as that, or there are no vectors.
  std::uint32_t lanes(std::uint32_t element_bytes) const { return std::max(1U, vector_bits / 8 / element_bytes); }
};

}  // namespace ferry
