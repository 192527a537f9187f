// Reads files in TOML that a user wrote. Failures are invalid_argument; the message names the file, and the line where
// there is one.
#pragma once

#include <toml++/toml.h>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ferry {

// Returns "farm.toml:3: " followed by what is wrong there.
Status toml_failure(const std::string& path, const toml::source_region& where, const std::string& why);

// Fails unless `path` is a regular file of at most so many bytes.
Result<std::string> read_toml_text(const std::string& path, std::size_t most_bytes);
Result<toml::table> parse_toml(std::string_view text, const std::string& path, std::size_t most_bytes);

}  // namespace ferry
