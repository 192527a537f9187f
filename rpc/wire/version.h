// The choice of the protocol version, by the side that serves.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace ferry::rpc {

// Returns the newest version that both sides support; version_mismatch names both ranges if there is none. The
// arguments are the client's range.
Result<std::uint32_t> negotiate_version(std::uint32_t version_min, std::uint32_t version_max);

}  // namespace ferry::rpc
