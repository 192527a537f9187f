// Prints the findings about a kernel's results, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "host/cli/output/json.h"
#include "host/cli/output/junit.h"
#include "host/verify/check_outputs.h"
#include "host/verify/output_comparison.h"

namespace ferry::cli {

// "check C: fine: all 262,144 elements; largest error 1.2e-06 absolute, 3.4e-05 relative, allowed ..."
std::string to_text(const verify::CheckResult& result);
Json check_json(const verify::CheckResult& result);

// "check y: fine: all 100 elements as mm.so computes them; largest difference 1e-06, allowed ..."
std::string to_text(const verify::OutputComparison& output, const std::string& against);
Json comparison_json(const verify::OutputComparison& output);

// Prints each output's first wrong element as an error.
void print_mistakes(const std::vector<verify::CheckResult>& checks);

// Adds one case for each output.
void add_cases(const std::vector<verify::CheckResult>& checks, JUnitReport& report);
void add_cases(const std::vector<verify::OutputComparison>& compared, const std::string& against, JUnitReport& report);

}  // namespace ferry::cli
