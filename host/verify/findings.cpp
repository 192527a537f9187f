#include "ferry/verify/findings.h"

#include "base/format.h"

namespace ferry::verify {

std::string Findings::mistake() const {
  if (!timed.empty()) return timed;
  for (const CheckResult& result : checks)
    if (result.wrong > 0) return result.first_wrong;
  if (std::string difference = difference_text(compared); !difference.empty()) return difference;
  for (const Probe& probe : probes)
    if (std::string mistake = probe.mistake(); !mistake.empty()) return mistake;
  return {};
}

std::string Probe::mistake() const {
  const std::string where = "with " + inputs + (sizes.empty() ? "" : " and " + sizes) + ": ";
  if (!failure.empty()) return where + failure;
  for (const CheckResult& result : checks)
    if (result.wrong > 0) return where + result.first_wrong;
  return {};
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
