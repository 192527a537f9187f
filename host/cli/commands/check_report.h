// What was found about a kernel's results, as text and as JSON.
#pragma once

#include <string>

#include "host/cli/output/json.h"
#include "host/verify/check_outputs.h"
#include "host/verify/output_comparison.h"

namespace ferry::cli {

// "check C: all 262,144 elements, largest error 1.2e-06 absolute, 3.4e-05 relative; allowed ...: fine"
std::string to_text(const verify::CheckResult& result);
Json check_json(const verify::CheckResult& result);

// "check y: all 100 elements as mm.so computes them, largest difference 1e-06; allowed ...: fine"
std::string to_text(const verify::OutputComparison& output, const std::string& against);
Json comparison_json(const verify::OutputComparison& output);

}  // namespace ferry::cli
