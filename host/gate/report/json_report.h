// A report as JSON; docs/gate.schema.json describes it.
#pragma once

#include <string>

#include "host/gate/api/report.h"

namespace ferry::gate {

// Changes with what the fields mean.
inline constexpr const char* kReportSchema = "ferry.gate/1";

// Numbers that JSON does not have, such as the end of an unbounded interval, are null.
std::string json_report(const Report& report);

}  // namespace ferry::gate
