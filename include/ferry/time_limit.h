// The time limits of a session (rpc/PROTOCOL.md).
#pragma once

#include <cstdint>

namespace ferry {

// The values are used on the wire and are never reused.
enum class TimeLimit : std::uint8_t { call = 1, session = 2, idle = 3 };

}  // namespace ferry
