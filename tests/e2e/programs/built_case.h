// Builds a case from a C++ program with one output.
#pragma once

#include <algorithm>
#include <utility>

#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;
using ElementOf = std::function<Element(const Arguments&, const Index&)>;

// `parameters` are the inputs in the order of `arguments`; `shape` and `element` define the expected `result`.
inline ProgramCase built_case(std::string name, std::vector<lang::Parameter> parameters, const lang::Tensor& result,
                              Arguments arguments, Index shape, ElementOf element, double tolerance = 0,
                              std::vector<ir::Requirement> requirements = {}) {
  parameters.push_back(lang::out(result));
  return {std::move(name),
          "",
          std::move(arguments),
          [dtype = result.dtype(), shape = std::move(shape), element = std::move(element)](const Arguments& in) {
            return std::vector<Expected>{each(dtype, shape, [&](const Index& i) { return element(in, i); })};
          },
          tolerance,
          lang::make_program("f", std::move(parameters), std::move(requirements))};
}

// Returns random f32 data.
inline Data floats(Index shape, std::uint64_t seed) { return random_data(DType::f32, std::move(shape), seed); }

// Returns the sum of term(r) over all r below these bounds.
template <class Term>
Element sum_over(const Index& bounds, Term term) {
  Element sum;
  Index r(bounds.size(), 0);
  if (std::find(bounds.begin(), bounds.end(), 0) != bounds.end()) return sum;
  while (true) {
    sum.add(term(std::as_const(r)));
    std::size_t d = bounds.size();
    while (d > 0 && ++r[d - 1] == bounds[d - 1]) r[--d] = 0;
    if (d == 0) return sum;
  }
}

}  // namespace ferry::test
