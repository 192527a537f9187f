// What a float32 math function should give, and how far from it a result is.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace ferry::math_test {

struct Reference {
  std::string name;
  double (*of_one)(double);
  double (*of_two)(double, double);
  double ulps;  // allowed
};

// float64 libm, whose error is 2^-29 of a float32's unit in the last place.
const std::vector<Reference>& references();

// In units of the last place of the correctly rounded result; infinite where one is NaN and the other is not, or the
// signs of zeros differ.
double error_in_ulps(double expected, float got);

}  // namespace ferry::math_test
