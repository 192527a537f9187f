// A GPU that is an interpreter of PTX: rpc_server with the stand-in for NVIDIA's driver (tests/support/fake_cuda).
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "crosscompile/ir/function.h"
#include "host/lang/program.h"
#include "tests/support/listening_server.h"

namespace ferry::test {

// A program under a schedule, lowered once, compiled for a GPU once, run at many sizes.
struct GpuProgram {
  lang::Program program;
  ir::Function lowered;
  std::vector<std::uint8_t> module;  // of compile_module
};

// With an empty schedule, ferry's own. Of a target with "-compiler=nvrtc" the code is PTX that NVRTC makes of ferry's
// CUDA C; has_nvrtc() must have been asked before.
GpuProgram compiled_program(const std::string& source, const std::string& function, const std::string& schedule,
                            const std::string& target, const std::map<std::string, std::int64_t>& fixed = {});
bool has_nvrtc();  // says once why not

// `settings`: of tests/support/fake_cuda/fake.h, "FERRY_FAKE_CUDA_SEED=7".
class PtxDevice {
 public:
  explicit PtxDevice(const std::vector<std::string>& settings = {});

  // Random inputs, the results compared with the reference evaluator: what is wrong, in words; empty: nothing. Throws
  // UnfitSizes where the program has no meaning at these sizes.
  std::string wrong(const GpuProgram& compiled, const std::map<std::string, std::int64_t>& sizes,
                    std::uint64_t seed = 1) const;
  std::string address() const { return server_.address(); }

 private:
  ListeningServer server_;
};

struct UnfitSizes : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The sizes of a program by name, in the order it has them.
std::vector<std::string> size_names(const GpuProgram& compiled);

}  // namespace ferry::test
