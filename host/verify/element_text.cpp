#include "host/verify/element_text.h"

#include <charconv>
#include <cmath>

namespace ferry::verify {

double value_of(DType dtype, const lang::Element& element) {
  if (is_float(dtype)) return element.real;
  if (dtype == DType::u64) return static_cast<double>(static_cast<std::uint64_t>(element.integer));
  return static_cast<double>(element.integer);
}

bool are_opposite_zeros(double x, double y) { return x == 0 && y == 0 && std::signbit(x) != std::signbit(y); }

std::string element_text(DType dtype, const lang::Element& element) {
  if (!is_float(dtype)) {
    return dtype == DType::u64 ? std::to_string(static_cast<std::uint64_t>(element.integer))
                               : std::to_string(element.integer);
  }
  char text[40];
  const auto [end, error] = dtype == DType::f64
                                ? std::to_chars(text, text + sizeof text, element.real)
                                : std::to_chars(text, text + sizeof text, static_cast<float>(element.real));
  return {text, end};
}

std::string position_text(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t position) {
  std::string index;
  for (std::size_t d = shape.size(); d > 0; --d) {
    const auto extent = static_cast<std::uint64_t>(shape[d - 1]);
    index = std::to_string(position % extent) + (index.empty() ? "" : ",") + index;
    position /= extent;
  }
  return name + "[" + index + "]";
}

}  // namespace ferry::verify
