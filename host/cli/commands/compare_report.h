// The results of compare, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "ferry/bench/comparison.h"
#include "host/text/json.h"

namespace ferry::cli {

struct CompareReport {
  std::string names[2];  // names of the kernels' files
  double least_effect = 0;
  std::uint64_t seed = 0;  // random inputs are drawn from it
  bench::KernelComparison found;
};

std::string verdict_text(const CompareReport& report);
text::Json to_json(const CompareReport& report);
// Returns the report when nothing was measured because the results differ.
text::Json difference_json(const CompareReport& report, const std::string& verdict);
void print_report(const CompareReport& report);

}  // namespace ferry::cli
