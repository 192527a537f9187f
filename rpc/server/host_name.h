// Resolves host names, for a server that is linked with the system's libraries.
#pragma once

#include <string>

#include "base/status.h"

namespace ferry::server {

// Returns the numeric address of `host`, which may itself be one. Blocks until the system's name service answers. The
// message of a failure names the option that `host` comes from.
Result<std::string> find_address(const std::string& host, const char* option);

}  // namespace ferry::server
