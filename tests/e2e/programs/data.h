// Tensors of test programs: values are doubles for references and bytes for the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/types.h"

namespace ferry::test {

struct Data {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool is_scalar = false;  // an argument by value
  // Strides in elements; empty for a dense tensor. With strides, `values` also holds the elements in between.
  std::vector<std::int64_t> strides = {};

  std::int64_t dim(std::size_t i) const { return shape[i]; }
  // Elements in row-major order.
  double operator()(std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return (*this)(i * shape[1] + j); }
  double operator()(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) const {
    return (*this)(((i * shape[1] + j) * shape[2] + k) * shape[3] + l);
  }
  double at(const std::vector<std::int64_t>& index) const {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
    return (*this)(place);
  }
};

std::int64_t count(const std::vector<std::int64_t>& shape);

// Returns seeded random values that the type represents exactly: floats are multiples of 1/64 in [-1, 1], integers lie
// in [-7, 7] or [0, 14].
Data random_data(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed);
// Returns a strided view: `shape` elements that are `strides` apart, starting at the first one.
Data view_data(DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::uint64_t seed);
// Returns the elements of a view without those in between.
Data dense(const Data& view);
Data scalar_data(DType dtype, double value);
Data empty_data(DType dtype, std::vector<std::int64_t> shape);

std::vector<std::uint8_t> to_bytes(const Data& data);
std::vector<double> from_bytes(DType dtype, const std::vector<std::uint8_t>& bytes);

}  // namespace ferry::test
