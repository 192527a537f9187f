// A line of the file of revocations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "farm/keys/revocation_file.h"

namespace ferry::farm {

// Ends in a line feed.
std::string revocation_line(const Revocation& revocation);
// Takes a line without its line feed. Returns nothing if it is no line of the file.
std::optional<Revocation> parse_revocation(std::string_view line);

}  // namespace ferry::farm
