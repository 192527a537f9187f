// One kernel in the text notation, its arguments, and an independent computation of what it must return.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/programs/data.h"

namespace ferry::test {

struct Expected {
  Data result;
  std::vector<double> scale;  // the sum of the terms' magnitudes an element; empty: the magnitude of the result
};

struct ProgramCase {
  std::string name;
  std::string source;
  std::vector<Data> arguments;  // all but the outputs
  std::function<std::vector<Expected>(const std::vector<Data>&)> reference;
  double tolerance = 0;  // times scale; 0 for exact
};

std::vector<ProgramCase> expression_cases();
std::vector<ProgramCase> operator_cases();

// A reference of one element: from its indices to its value and the magnitude of its terms.
struct Element {
  double value = 0;
  double scale = 0;
  void add(double term) {
    value += term;
    scale += term < 0 ? -term : term;
  }
};
Expected each(DType dtype, std::vector<std::int64_t> shape,
              const std::function<Element(const std::vector<std::int64_t>&)>& element);

}  // namespace ferry::test
