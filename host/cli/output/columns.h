// Prints tables.
#pragma once

#include <string>
#include <vector>

namespace ferry::cli {

// All rows have as many entries as the first; each column is as wide as its widest entry.
void print_columns(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "");

}  // namespace ferry::cli
