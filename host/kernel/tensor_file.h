// Reads and writes tensors in .npy files that a user names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/client.h"

namespace ferry {

struct TensorFile {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::uint8_t> bytes;
};

// Throws UsageError that names the file and the mistake.
TensorFile read_tensor(const std::string& file);
void write_tensor(const std::string& file, DType dtype, const Shape& shape, const std::vector<std::uint8_t>& bytes);

}  // namespace ferry
