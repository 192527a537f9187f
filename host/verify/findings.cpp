#include "ferry/verify/findings.h"

#include "base/format.h"

namespace ferry::verify {

std::string Findings::mistake() const {
  if (!timed.empty()) return timed;
  for (const CheckResult& result : checks)
    if (result.wrong > 0) return result.first_wrong;
  return difference_text(compared);
}

std::string difference_text(const std::vector<OutputComparison>& outputs) {
  for (const OutputComparison& output : outputs) {
    if (output.different == 0) continue;
    const bool is_only = output.elements == 1;
    return output.first_difference +
           (is_only ? ""
                    : " (" + count_text(output.different) + " of " + count_text(output.elements) + " elements differ)");
  }
  return {};
}

}  // namespace ferry::verify
