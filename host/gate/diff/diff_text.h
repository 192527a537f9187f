// Diffs that are short enough to read.
#pragma once

#include <cstddef>
#include <string>

namespace ferry::gate {

// Lines of each diff; what is left out is counted in a last line.
inline constexpr std::size_t kMostDiffLines = 200;

// Returns the unified diff of two texts; empty where they are equal. Only the first lines of very long texts are
// compared.
std::string diff_of(const std::string& baseline, const std::string& current);

// Returns the first lines of a text, and how many there are beyond them.
std::string shortened_lines(const std::string& text, std::size_t most);

}  // namespace ferry::gate
