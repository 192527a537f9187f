#include "host/lang/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ferry::lang {
namespace {

std::string number_text(DType type, const Element& element) {
  char text[40];
  if (is_float(type)) {
    std::snprintf(text, sizeof text, "%.9g", element.real);
  } else if (is_unsigned_int(type)) {
    std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(element.integer));
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(element.integer));
  }
  return text;
}

std::string index_text(std::uint64_t position, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(shape[d]);
    text = std::to_string(position % extent) + (text.empty() ? "" : ",") + text;
    position /= extent;
  }
  return "[" + text + "]";
}

double distance(DType type, const Element& a, const Element& b) {
  if (is_float(type)) return a.real == b.real ? 0 : std::fabs(a.real - b.real);
  if (is_unsigned_int(type)) {
    const auto x = static_cast<std::uint64_t>(a.integer), y = static_cast<std::uint64_t>(b.integer);
    return static_cast<double>(x > y ? x - y : y - x);
  }
  const auto x = static_cast<std::uint64_t>(a.integer), y = static_cast<std::uint64_t>(b.integer);
  return static_cast<double>(a.integer > b.integer ? x - y : y - x);
}

double size_of(DType type, const Element& element) {
  if (is_float(type)) return std::fabs(element.real);
  return is_unsigned_int(type) ? static_cast<double>(static_cast<std::uint64_t>(element.integer))
                               : std::fabs(static_cast<double>(element.integer));
}

class Comparer {
 public:
  Comparer(DType type, const Tolerance& tolerance, const std::vector<std::int64_t>& shape, Comparison& result)
      : type_(type), tolerance_(tolerance), shape_(shape), result_(result) {}

  void add(std::uint64_t position, const Element& expected, const Element& got) {
    ++result_.checked;
    const double apart = distance(type_, expected, got);
    const bool both_nan = is_float(type_) && std::isnan(expected.real) && std::isnan(got.real);
    const bool finite = !is_float(type_) || (std::isfinite(expected.real) && std::isfinite(got.real));
    bool right = both_nan || apart == 0;
    if (finite) {
      const double size = size_of(type_, expected);
      result_.largest_absolute = std::max(result_.largest_absolute, apart);
      if (size > 0) result_.largest_relative = std::max(result_.largest_relative, apart / size);
      right =
          apart <= tolerance_.absolute + tolerance_.relative * size || apart <= tolerance_.rounding * expected.error;
    }
    if (right) return;
    if (!finite) result_.largest_absolute = result_.largest_relative = HUGE_VAL;
    if (result_.wrong++ > 0) return;
    result_.first_wrong = "element " + index_text(position, shape_) + ": expected " + number_text(type_, expected) +
                          ", got " + number_text(type_, got);
  }

 private:
  DType type_;
  const Tolerance& tolerance_;
  const std::vector<std::int64_t>& shape_;
  Comparison& result_;
};

// The first and the last element and others anywhere between, in order, none twice.
std::vector<std::uint64_t> sample(std::uint64_t total, const CheckLimits& limits) {
  std::vector<std::uint64_t> positions{0, total - 1};
  std::uint64_t state = limits.seed;
  while (positions.size() < limits.samples) {
    // splitmix64
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    positions.push_back((z ^ (z >> 31)) % total);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace

Comparison compare(const Reference& reference, std::size_t parameter, DType type, const void* got,
                   const Tolerance& tolerance, const CheckLimits& limits) {
  Comparison result;
  result.total = reference.elements(parameter);
  if (result.total == 0) return result;
  Comparer comparer(type, tolerance, reference.shape(parameter), result);
  const auto* bytes = static_cast<const std::byte*>(got);
  const auto check = [&](std::span<const std::uint64_t> positions) {
    const std::vector<Element> expected = reference.evaluate(parameter, positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const void* at = bytes + static_cast<std::size_t>(positions[i]) * dtype_bytes(type);
      comparer.add(positions[i], expected[i], load_element(type, at));
    }
  };
  if (reference.work(parameter) > limits.work && result.total > limits.samples) {
    check(sample(result.total, limits));
    return result;
  }
  constexpr std::uint64_t kChunk = 4096;
  std::vector<std::uint64_t> positions;
  for (std::uint64_t first = 0; first < result.total; first += kChunk) {
    positions.resize(static_cast<std::size_t>(std::min(kChunk, result.total - first)));
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = first + i;
    check(positions);
  }
  return result;
}

}  // namespace ferry::lang
