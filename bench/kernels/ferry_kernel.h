// A compiled module, loaded into this process by what rpc_server loads modules with, so that it can take turns with a
// library that runs here too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rpc/abi/manifest.h"

namespace ferry::bench {

class FerryKernel {
 public:
  // The module's first function, over threads of its own. Throws std::runtime_error.
  FerryKernel(std::span<const std::uint8_t> module, unsigned threads);
  ~FerryKernel();
  FerryKernel(const FerryKernel&) = delete;
  FerryKernel& operator=(const FerryKernel&) = delete;

  // Every parameter's shape is known without arguments.
  const FunctionInfo& info() const;
  const std::vector<std::vector<std::int64_t>>& shapes() const;

  // One address a parameter; workspaces are taken and constants rearranged here.
  void set_arguments(const std::vector<void*>& memory);
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ferry::bench
