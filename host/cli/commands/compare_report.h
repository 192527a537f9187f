// The results of compare, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/commands/compare_process.h"
#include "host/cli/output/json.h"
#include "host/stats/comparison.h"
#include "host/verify/output_comparison.h"

namespace ferry::cli {

struct CompareReport {
  std::string names[2];  // names of the kernels' files
  double least_effect = 0;
  std::uint32_t most_processes = 0;  // the most that a report recommends
  ComparedFacts facts;
  std::vector<verify::OutputComparison> outputs;  // empty with --allow-difference
  std::vector<ComparedProcess> processes;
  stats::Comparison comparison;

  // Returns the median over the processes' medians.
  double median(int k) const;
};

std::string verdict_text(const CompareReport& report);
Json to_json(const CompareReport& report);
// Returns the report when nothing was measured because the results differ.
Json difference_json(const CompareReport& report, const std::string& verdict);
void print_report(const CompareReport& report);

}  // namespace ferry::cli
