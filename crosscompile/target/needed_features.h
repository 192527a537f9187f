// The requirements that a module's manifest places on a device.
#pragma once

#include "ferry/target/target.h"

#include <string>
#include <vector>

namespace ferry {

// Returns the features that the code may use, among those that a device can report, sorted.
std::vector<std::string> needed_features(const Target& target);

// Throws CompileError when no rpc_server runs on the target, so that no device could run a module for it.
void check_has_server(const Target& target);

}  // namespace ferry
