// The time of day.
#pragma once

#include <cstdint>

namespace ferry {

// Since 1970, in UTC.
std::int64_t unix_milliseconds();

}  // namespace ferry
