// A report as a table for people at a terminal.
#pragma once

#include <cstdio>
#include <string>

#include "host/gate/api/report.h"

namespace ferry::gate {

// Returns lines of at most `width` columns where words allow it (0: as long as they are), with the colours that the
// stream has. Of more than kMostRows results those without news are only counted.
inline constexpr std::size_t kMostRows = 60;
std::string terminal_report(const Report& report, std::size_t width, FILE* stream);

}  // namespace ferry::gate
