// --top and --labels: the greatest elements of outputs, by name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/client.h"

namespace ferry::cli {

struct TopOption {
  std::uint64_t count = 0;  // 0: none
  std::string labels;       // a file with the name of each element, a line each
};

void add_top_option(CLI::App& command, TopOption& top);

// An element among the greatest of its row.
struct TopElement {
  std::uint64_t index = 0;
  double value = 0;
  std::string label;  // empty: none is known
};

// Returns the names in the file; none if there is no file. Throws UsageError for one that cannot be read.
std::vector<std::string> read_labels(const TopOption& top);

// Returns the greatest elements of each row, along the last dimension, the greatest first, equal ones in their order.
// NaN is the least. At most kMostRows rows.
inline constexpr std::uint64_t kMostRows = 64;
std::vector<std::vector<TopElement>> top_elements(DType dtype, const Shape& shape,
                                                  const std::vector<std::uint8_t>& bytes, std::uint64_t count,
                                                  const std::vector<std::string>& labels);

// Returns the lines for an output: "y  0.91 tabby cat (281)", with the row before each if there are several.
std::vector<std::string> top_lines(const std::string& output, const std::vector<std::vector<TopElement>>& rows);

}  // namespace ferry::cli
