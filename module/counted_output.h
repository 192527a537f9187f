// Outputs of a network whose sizes depend on data, such as the detections in an image. Such an output has room for the
// most elements that there may be, and another output, an int64 vector, has its shape in the call. Servers take both
// for plain outputs.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ferry {

struct ModuleFile;

// Positions among the function's parameters.
struct CountedOutput {
  std::uint32_t output = 0, shape = 0;
  bool operator==(const CountedOutput&) const = default;
};

// Returns those of the module's only function, which the section with descriptions of steps holds. Fails with
// invalid_argument unless they are as MODULE.md says.
Result<std::vector<CountedOutput>> counted_outputs(const ModuleFile& module);

// Returns the elements of a dense tensor that the shape leaves of those that there is room for, from the first on in
// each dimension. Fails with invalid_argument where there is no room.
Result<std::vector<std::uint8_t>> cut_to_shape(std::span<const std::uint8_t> bytes, std::size_t element_bytes,
                                               std::span<const std::int64_t> room, std::span<const std::int64_t> shape);

}  // namespace ferry
