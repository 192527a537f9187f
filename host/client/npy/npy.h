// Tensors in numpy's .npy files (format version 1.0 to 3.0, see numpy.lib.format).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ferry/types.h"

namespace ferry::npy {

// Dense, row-major and little-endian, whatever the order in the file.
struct Array {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

// Whether the contents of a file begin as those of a .npy file.
bool is_npy(std::span<const std::uint8_t> file);

// bfloat16, which numpy itself does not know, is written under the name that it has once the Python package ml_dtypes
// is imported. Elements of two bytes without a meaning ('V2'), which ml_dtypes itself saves, are read as bfloat16 too.
//
// Throws UsageError that names the file and the location of the mistake; so do the others.
Array read(const std::string& path);
// Returns the shape alone, without reading the elements.
std::vector<std::int64_t> read_shape(const std::string& path);
// Parses the contents of a file; `name` is its name in messages.
Array parse(std::span<const std::uint8_t> file, const std::string& name);

void write(const std::string& path, DType dtype, std::span<const std::int64_t> shape,
           std::span<const std::uint8_t> bytes);
// Returns the same bytes that numpy.save writes.
std::vector<std::uint8_t> format(DType dtype, std::span<const std::int64_t> shape, std::span<const std::uint8_t> bytes);

}  // namespace ferry::npy
