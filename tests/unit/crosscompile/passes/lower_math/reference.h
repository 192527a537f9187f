// The expected results of float32 math functions, and the error of a result.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace ferry::math_test {

struct Reference {
  std::string name;
  double (*of_one)(double);
  double (*of_two)(double, double);
  double ulps;  // allowed error
};

// The float64 libm, whose error is 2^-29 of a float32's unit in the last place.
const std::vector<Reference>& references();

// Returns the error in units in the last place of the correctly rounded result; infinite if only one of the two is NaN
// or the signs of zeros differ.
double error_in_ulps(double expected, float got);

}  // namespace ferry::math_test
