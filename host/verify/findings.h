// What is known of the outputs of a call, once they have been compared with definitions or other kernels.
#pragma once

#include <string>
#include <vector>

#include "host/verify/check_outputs.h"
#include "host/verify/output_comparison.h"

namespace ferry::verify {

struct Findings {
  std::vector<CheckResult> checks;         // against a definition
  std::vector<OutputComparison> compared;  // with a kernel that has none

  // Returns "C[3] is 1, expected 2" or "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that is
  // wrong; empty if none is.
  std::string mistake() const;
  bool is_fine() const { return mistake().empty(); }
};

// Returns "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that differs; empty if none does.
std::string difference_text(const std::vector<OutputComparison>& outputs);

}  // namespace ferry::verify
