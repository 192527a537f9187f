#include "host/cli/options/top_option.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/options/option_checks.h"
#include "host/kernel/file.h"
#include "module/element_difference.h"

namespace ferry::cli {

void add_top_option(CLI::App& command, TopOption& top) {
  constexpr std::uint64_t kMost = 1000;
  CLI::Option* const count =
      command.add_option("--top", top.count, "Print the greatest elements of each row of an output, so many of them")
          ->type_name("N")
          ->check(whole_number(1, kMost));
  command.add_option("--labels", top.labels, "With --top: a file with the name of each element, a line each")
      ->type_name("FILE")
      ->needs(count);
}

std::vector<std::string> read_labels(const TopOption& top) {
  std::vector<std::string> labels;
  if (top.labels.empty()) return labels;
  std::istringstream lines(read_file(top.labels));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(printable(line));
  }
  return labels;
}

std::vector<std::vector<TopElement>> top_elements(DType dtype, const Shape& shape,
                                                  const std::vector<std::uint8_t>& bytes, std::uint64_t count,
                                                  const std::vector<std::string>& labels) {
  const std::size_t element = dtype_bytes(dtype), all = bytes.size() / element;
  const std::size_t width = shape.empty() ? 1 : static_cast<std::size_t>(shape.back());
  std::vector<std::vector<TopElement>> rows;
  for (std::size_t first = 0; width > 0 && first + width <= all && rows.size() < kMostRows; first += width) {
    std::vector<double> values(width);
    for (std::size_t i = 0; i < width; ++i) values[i] = element_value(dtype, bytes.data() + (first + i) * element);
    std::vector<std::size_t> order(width);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      if (std::isnan(values[a]) || std::isnan(values[b])) return !std::isnan(values[a]) && std::isnan(values[b]);
      return values[a] > values[b];
    });
    order.resize(std::min<std::size_t>(order.size(), count));
    std::vector<TopElement>& row = rows.emplace_back();
    for (const std::size_t i : order) row.push_back({i, values[i], i < labels.size() ? labels[i] : ""});
  }
  return rows;
}

std::vector<std::string> top_lines(const std::string& output, const std::vector<std::vector<TopElement>>& rows) {
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const TopElement& one : rows[r])
      lines.push_back(
          output + (rows.size() > 1 ? "[" + std::to_string(r) + "]" : "") + "  " + number_text(one.value) + "  " +
          (one.label.empty() ? std::to_string(one.index) : one.label + " (" + std::to_string(one.index) + ")"));
  }
  return lines;
}

}  // namespace ferry::cli
