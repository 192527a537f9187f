// A kernel's result against the reference.
#pragma once

#include "host/lang/reference.h"

#include <cstdint>
#include <string>

namespace ferry::lang {

struct Tolerance {
  // An element is right when |got - expected| <= absolute + relative * |expected|, or within `rounding` times what
  // rounding may add up to (Element::error). NaN is right only for NaN, an infinity only for itself.
  double relative = 0;
  double absolute = 0;
  double rounding = 4;
};

struct CheckLimits {
  double work = 2e8;             // loop points: below, every element is checked
  std::uint64_t samples = 1000;  // otherwise this many, the first and the last among them
  std::uint64_t seed = 1;
};

struct Comparison {
  std::uint64_t checked = 0, total = 0;
  std::uint64_t wrong = 0;
  double largest_absolute = 0;  // over all checked elements
  double largest_relative = 0;  // over those whose expected value is not 0
  // The first wrong element: where, and both values as text.
  std::string first_wrong;

  bool every_element() const { return checked == total; }
  bool passed() const { return wrong == 0; }
};

// `got` holds the output densely, in its storage type.
Comparison compare(const Reference& reference, std::size_t parameter, DType type, const void* got,
                   const Tolerance& tolerance = {}, const CheckLimits& limits = {});

}  // namespace ferry::lang
