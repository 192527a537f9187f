// Tensors in files, as the command line names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/session/ferry.h"

namespace ferry::cli {

struct TensorFile {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::uint8_t> bytes;
};

// UsageError names the file and what is wrong with it.
TensorFile read_tensor(const std::string& file);
void write_tensor(const std::string& file, DType dtype, const Shape& shape, const std::vector<std::uint8_t>& bytes);

}  // namespace ferry::cli
