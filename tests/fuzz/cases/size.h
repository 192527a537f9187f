// Extents of generated tensors, each a sum of multiples of sizes and a number, and the axes and tensors that have them.
#pragma once

#include "ferry/types.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::fuzz {

inline constexpr std::array<const char*, 3> kSizeNames = {"N", "M", "P"};

struct Size {
  std::int64_t number = 0;
  std::array<std::int64_t, 3> times = {0, 0, 0};

  bool is_number() const { return times == std::array<std::int64_t, 3>{0, 0, 0}; }

  Size plus(std::int64_t more) const { return {number + more, times}; }
  Size plus(const Size& other) const {
    Size sum = plus(other.number);
    for (std::size_t i = 0; i < times.size(); ++i) sum.times[i] += other.times[i];
    return sum;
  }
  Size scaled(std::int64_t factor) const {
    Size product{number * factor, times};
    for (std::int64_t& count : product.times) count *= factor;
    return product;
  }
  // Returns an extent that is at least as large as both for all sizes, and never negative.
  static Size larger(const Size& a, const Size& b) {
    Size result{std::max({a.number, b.number, std::int64_t{0}}), {}};
    for (std::size_t i = 0; i < a.times.size(); ++i) result.times[i] = std::max(a.times[i], b.times[i]);
    return result;
  }

  std::int64_t value(const std::map<std::string, std::int64_t>& sizes) const {
    std::int64_t sum = number;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i] != 0) sum += times[i] * sizes.at(kSizeNames[i]);
    return sum;
  }
  std::string text() const {
    std::string sum;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      sum += (sum.empty() ? "" : "+") + (times[i] == 1 ? "" : std::to_string(times[i]) + "*") + kSizeNames[i];
    }
    if (sum.empty()) return std::to_string(number);
    if (number == 0) return sum;
    return sum + (number > 0 ? "+" : "") + std::to_string(number);
  }
};

struct NamedAxis {
  std::string name;
  Size extent;
};

// A tensor that is generated after its readers, so that it is as large as they need.
struct Tensor {
  std::string name;
  DType type = DType::f32;
  std::vector<Size> extents;
  bool exact = true;
};

}  // namespace ferry::fuzz
