// Names of suites and baselines as names of files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ferry::gate {

// Returns a name for a file that differs for different names and is none of a folder: everything but letters, digits,
// '_', '-' and '.' after the first character is %XX. A long name is shortened to a part of it and its hash.
std::string file_name(std::string_view name);

// Returns the name that file_name() turned into this one; nothing for a shortened name and for any other file.
std::optional<std::string> name_of_file(std::string_view file);

}  // namespace ferry::gate
