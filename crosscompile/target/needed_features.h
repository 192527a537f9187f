// What a module's manifest says that a device must have.
#pragma once

#include "crosscompile/target/target.h"

#include <string>
#include <vector>

namespace ferry {

// Of the features a device can report, those the code may use, sorted.
std::vector<std::string> needed_features(const Target& target);

// CompileError when no rpc_server runs on the target, so that a module for it would run nowhere.
void require_device(const Target& target);

}  // namespace ferry
