// The two ways to reject a code image: it contradicts itself, or it needs what this loader does not have.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace ferry::device {

inline Status malformed(std::string what) {
  return {ErrorCode::invalid_argument, "malformed code image: " + std::move(what)};
}
inline Status refused(std::string what) { return {ErrorCode::unsupported, "code image refused: " + std::move(what)}; }

}  // namespace ferry::device
