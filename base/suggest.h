// "Did you mean": finds the known names nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferry {

// "a, b, c"
std::string joined(const std::vector<std::string>& names);

// Returns up to `count` names, nearest first by edit distance, ties in the order of `known`.
std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string>& known,
                                       std::size_t count);

// Returns the name that was probably meant: one that differs by at most two letters, and by at most half of the shorter
// name. Empty if there is none.
std::string likely_meant(std::string_view wrong, const std::vector<std::string>& known);

// Returns "unknown CPU 'cortex-a27'; the nearest known are cortex-a57, cortex-a72, cortex-a73", for example.
std::string unknown_name(std::string_view what, std::string_view wrong, const std::vector<std::string>& known);

}  // namespace ferry
