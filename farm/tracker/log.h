// The tracker's log.
#pragma once

#include <functional>
#include <string>

namespace ferry::farm {

// Writes a line.
using Log = std::function<void(const std::string& line)>;

}  // namespace ferry::farm
