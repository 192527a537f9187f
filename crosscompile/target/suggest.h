// "Did you mean": the known names nearest to what somebody wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferry {

// Up to `count` names, nearest first by edit distance, ties in the order of `known`.
std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string>& known,
                                       std::size_t count);

// "unknown CPU 'cortex-a27'; the nearest known are cortex-a57, cortex-a72, cortex-a73"
std::string unknown_name(std::string_view what, std::string_view wrong, const std::vector<std::string>& known);

}  // namespace ferry
