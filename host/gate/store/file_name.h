// Names of suites and baselines as names of files.
#pragma once

#include <string>
#include <string_view>

namespace ferry::gate {

// Returns a name for a file that differs for different names and is none of a folder: everything but letters, digits,
// '_', '-' and '.' after the first character is %XX. A long name is shortened to a part of it and its hash.
std::string file_name(std::string_view name);

}  // namespace ferry::gate
