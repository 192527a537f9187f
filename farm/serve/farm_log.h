// The tracker's log on standard error.
#pragma once

#include <string>

namespace ferry::farm {

// Any thread.
void log_line(const std::string& line);

}  // namespace ferry::farm
