// A kernel that was compiled for this machine and runs in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "ferry/types.h"

namespace ferry {

// An argument that is not written: a tensor in memory, dense or with strides in elements, or a number.
struct HostArgument {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape = {}, strides = {};
  const void* data = nullptr;
  // In place of all that.
  std::optional<std::variant<std::int64_t, double, std::uint64_t>> number = {};
};

// Takes the arguments of all parameters that are not outputs, in their order, and returns the bytes of each output. It
// uses all cores. Throws Error for a call that the kernel's checks refuse. Not thread-safe.
using HostKernel = std::function<std::vector<std::vector<std::uint8_t>>(std::span<const HostArgument> arguments)>;

}  // namespace ferry
