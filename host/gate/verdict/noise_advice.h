// Says what a person can do about noise that hinders a verdict.
#pragma once

#include <span>
#include <string>

namespace ferry::gate {

// Takes log(current / baseline) of the pairs, how much neighbouring observations are correlated beyond what is usual,
// or 0, and the tolerance. Returns a clause that names the likely cause and a remedy; empty where noise is not what
// hinders it.
std::string noise_advice(std::span<const double> log_ratios, double correlation, double tolerance);

}  // namespace ferry::gate
