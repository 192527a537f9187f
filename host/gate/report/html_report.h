// A report as one HTML page that needs nothing else: no scripts, no other files.
#pragma once

#include <string>

#include "host/gate/api/report.h"

namespace ferry::gate {

std::string html_report(const Report& report);

}  // namespace ferry::gate
