// A compiled module, loaded into this process by the same code that rpc_server uses, so that it can take turns with a
// library in the process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "module/manifest.h"

namespace ferry::bench {

class FerryKernel {
 public:
  // Loads the module's first function, with threads of its own. Throws std::runtime_error.
  FerryKernel(std::span<const std::uint8_t> module, unsigned threads);
  ~FerryKernel();
  FerryKernel(const FerryKernel&) = delete;
  FerryKernel& operator=(const FerryKernel&) = delete;

  // The shapes of all parameters are known without arguments.
  const FunctionInfo& info() const;
  const std::vector<std::vector<std::int64_t>>& shapes() const;

  // Takes one address per parameter. Allocates the workspaces and runs the init plan.
  void set_arguments(const std::vector<void*>& memory);
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ferry::bench
