// Tensors in numpy's .npy files (format version 1.0 to 3.0, see numpy.lib.format).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rpc/abi/dtype.h"

namespace ferry::npy {

// The message names the file, and where it stopped making sense.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Dense, row-major, little-endian, whatever the file's order was.
struct Array {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

// bfloat16, which numpy itself does not know, is written under the name that it has once the Python package ml_dtypes
// is imported. What ml_dtypes itself saves, elements of two bytes without a meaning ('V2'), is read as bfloat16 too.
Array read(const std::string& path);
// The contents of a file; `name` is what messages call it.
Array parse(std::span<const std::uint8_t> file, const std::string& name);

void write(const std::string& path, DType dtype, std::span<const std::int64_t> shape,
           std::span<const std::uint8_t> bytes);
// The same bytes as numpy.save writes.
std::vector<std::uint8_t> format(DType dtype, std::span<const std::int64_t> shape, std::span<const std::uint8_t> bytes);

}  // namespace ferry::npy
