// A report as JUnit's XML, which most systems for continuous integration show as tests.
#pragma once

#include <string>

#include "host/gate/api/report.h"

namespace ferry::gate {

// Slower, wrong and over a limit are failures. What nobody knows is an error: no board, an interrupted run, a case that
// does not compile, and "cannot tell" unless the policy lets it pass.
std::string junit_report(const Report& report);

}  // namespace ferry::gate
