// The tracker's log on standard error, and the clock of its entries.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::farm {

// Any thread.
void log_line(const std::string& line);

// Since 1970.
std::int64_t now_ms();

}  // namespace ferry::farm
