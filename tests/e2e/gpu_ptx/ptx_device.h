// A simulated GPU: rpc_server with the stand-in for NVIDIA's driver (tests/support/fake_cuda), which interprets PTX.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "crosscompile/ir/function.h"
#include "ferry/client.h"
#include "ferry/lang/program.h"
#include "tests/support/listening_server.h"

namespace ferry::test {

// A program under a schedule, lowered and compiled for a GPU once, and run at many sizes.
struct GpuProgram {
  lang::Program program;
  ir::Function lowered;
  std::vector<std::uint8_t> module;  // from compile_module
};

// Compiles a program; an empty schedule selects ferry's default. For a target with "-compiler=nvrtc" the code is PTX
// that NVRTC makes of ferry's CUDA C; call has_nvrtc() first.
GpuProgram compiled_program(const std::string& source, const std::string& function, const std::string& schedule,
                            const std::string& target, const std::map<std::string, std::int64_t>& fixed = {});
bool has_nvrtc();  // prints the reason once if there is none

// `settings` are those of tests/support/fake_cuda/fake.h, such as "FERRY_FAKE_CUDA_SEED=7".
class PtxDevice {
 public:
  explicit PtxDevice(const std::vector<std::string>& settings = {});

  // Runs the program on random inputs and compares the results with the reference evaluator. Returns a description of
  // what is wrong; empty if nothing is. Throws UnfitSizes where the program has no meaning at these sizes.
  std::string wrong(const GpuProgram& compiled, const std::map<std::string, std::int64_t>& sizes,
                    std::uint64_t seed = 1) const;
  std::string address() const { return server_.address(); }
  Device connect() const;  // opens a session on the simulated GPU

 private:
  ListeningServer server_;
};

struct UnfitSizes : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The names of a program's sizes, in its order.
std::vector<std::string> size_names(const GpuProgram& compiled);

}  // namespace ferry::test
