// Prints the findings about a kernel's results, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "ferry/verify/findings.h"
#include "host/text/json.h"
#include "host/text/junit.h"

namespace ferry::cli {

// Returns a line for each output: "check C: fine: all 262,144 elements; largest error 1.2e-06 absolute, 3.4e-05
// relative, allowed ...", or "check y: fine: all 100 elements as mm.so computes them; largest difference 1e-06, allowed
// ...".
std::vector<std::string> lines_of(const verify::Findings& findings, const std::string& against);

// Adds "check" and "probes", if the kernel was held against its own definition or the list is not empty, and "compared"
// if that is not empty.
void add_findings(const verify::Findings& findings, bool is_checked, text::Json& json);
text::Json checks_json(const std::vector<verify::CheckResult>& checks);
text::Json probes_json(const std::vector<verify::Probe>& probes);
text::Json comparisons_json(const std::vector<verify::OutputComparison>& compared);

// Prints each output's first wrong element as an error; `kernel` and `against` are the files' names.
void print_mistakes(const verify::Findings& findings, const std::string& kernel, const std::string& against);
// Prints why a comparison says little.
void print_warnings(const verify::Findings& findings);

// Adds one case for each output, whose names begin with `prefix`.
void add_cases(const verify::Findings& findings, const std::string& against, text::JUnitReport& report,
               const std::string& prefix = {});

}  // namespace ferry::cli
