// The demo's kernels: each one's text and inputs, and the same computation as plain loops over doubles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace demo {

using Shape = std::vector<std::int64_t>;

struct Expected {
  std::vector<double> values;
  // The sum of the magnitudes of each element's terms, to which a float result's rounding errors are relative.
  std::vector<double> scales;
};

struct Kernel {
  std::string name;   // function's name
  std::string label;  // name with sizes
  std::string source;
  std::vector<Shape> inputs;  // all float32
  Shape output;
  int terms = 1;  // number of terms that an element sums
  Expected (*expected)(const std::vector<std::vector<float>>& inputs);
};

// Returns the kernels, with their texts read from this folder.
std::vector<Kernel> kernels(const std::string& folder);

}  // namespace demo
