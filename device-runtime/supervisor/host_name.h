// Names of hosts, as a server that is linked with the system's libraries can look them up.
#pragma once

#include <string>

#include "rpc/base/status.h"

namespace ferry::device {

// The numeric address that `host` stands for; itself when it is one. Waits for the system's name service.
Result<std::string> find_address(const std::string& host);

}  // namespace ferry::device
