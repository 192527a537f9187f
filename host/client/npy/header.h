// The header of a .npy file: a Python dictionary literal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/types.h"

namespace ferry::npy {

struct Header {
  DType dtype = DType::f32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses the text between the length and the data. `name` is the name of the file in messages.
Header parse_header(std::string_view text, const std::string& name);
std::string header_text(DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace ferry::npy
