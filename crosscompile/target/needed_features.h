// What a module's manifest says that a device must have.
#pragma once

#include "crosscompile/target/target.h"

#include <string>
#include <vector>

namespace ferry {

// Of the features a device can report, those the code may use, sorted.
std::vector<std::string> needed_features(const Target& target);

}  // namespace ferry
