// The target that code is compiled for. Plain data; resolve.h makes one from text or from a device's report.
#pragma once

#include "ferry/device_id.h"
#include "ferry/target/arch.h"
#include "ferry/target/capabilities.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferry {

// The compilers for the target "cuda": both, unless one is requested, as in "cuda -compiler=llvm".
enum class CudaCompiler : std::uint8_t { both, nvrtc, llvm };

// The groups of passes that not every target has: which rows of the compiler's table of passes run.
struct PassGroups {
  // Loops are split, unrolled and vectorized. Without it the code stays readable, and the compiler that translates it
  // can do that.
  bool loops = false;
  bool gpu = false;        // what kernels of blocks and threads need
  bool scalarize = false;  // vectors are split into their lanes, for languages without vectors
};

// The same for passes over networks (host/graph/compile/graph_passes.h).
struct GraphPassGroups {
  bool float32 = true;   // networks of narrow floats are computed in float32
  bool integers = true;  // products of dequantized integers are computed in integers
  bool blocks = true;    // images may have their channels in blocks of a vector
};

struct Target {
  std::string text;  // as resolved; can be printed and parsed again
  Arch arch = Arch::other_cpu;
  std::string arch_name;              // for manifests, tables and messages: as arch_named() reads it
  std::string triple;                 // normalised, four parts
  std::string cpu;                    // LLVM's name
  std::vector<std::string> features;  // all that are on, in LLVM's spelling without the plus, sorted
  std::uint32_t pointer_bits = 64;
  std::uint32_t vector_bits = 128;  // width of a vector register; 8, the smallest lane, when there are none
  std::uint32_t vector_registers = 16;
  Capabilities capabilities;
  // The output is C source or a dialect of it; the compiler that translates it provides the math functions and the
  // conversions of narrow floats.
  bool is_source = false;
  std::vector<std::string> gpus;  // for "cuda", the architectures to compile for: "sm_80"
  CudaCompiler cuda_compiler = CudaCompiler::both;
  DeviceId device;  // the device that a session opens
  // Limits of a block on a GPU; 0 when only the device knows.
  std::int64_t block_threads = 0, block_shared_bytes = 0;
  // No rpc_server runs on the target: it supports objects and assembly, but no modules.
  bool objects_only = false;
  PassGroups pass_groups = {.loops = true};
  GraphPassGroups graph_pass_groups;
  std::uint32_t tensor_alignment = 64;  // in bytes, for tensors between the kernels of a network
  // Hints for default schedules; 0 when unknown.
  std::uint64_t l1_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint32_t threads = 0;
  // For GPUs the CPU beside it, which runs what the GPU cannot; null: unknown, or none (uses_host).
  std::shared_ptr<const Target> host = {};
  bool uses_host = true;

  void set_arch(std::string name);
  // Names the CPU beside a GPU, in the text too.
  void set_host(const Target& beside);
  // Whether a CPU runs the code, which the plan of a module calls.
  bool is_for_cpu() const { return device.kind == DeviceKind::cpu; }
  // Whether the code is kernels of blocks and threads, which the plan launches.
  bool has_thread_blocks() const { return pass_groups.gpu; }
  // Returns the lowest compute capability among the GPUs of "cuda": 80 for sm_80; 0 for any other target.
  int capability() const;
  bool has(const std::string& feature) const;  // "avx512f"
  // Number of elements in one vector register; 1 where an element is as large as the register, or there are no vectors.
  std::uint32_t lanes(std::uint32_t element_bytes) const { return std::max(1U, vector_bits / 8 / element_bytes); }
};

}  // namespace ferry
