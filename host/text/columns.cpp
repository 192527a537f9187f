#include "host/text/columns.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/lines.h"
#include "host/text/style.h"

namespace ferry::text {

namespace {

constexpr std::size_t kGap = 2;
// No column becomes narrower.
constexpr std::size_t kLeastColumnWidth = 8;

std::vector<std::size_t> widths_of(const Rows& rows, std::size_t most) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  if (most == 0) return widths;
  std::size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  for (auto widest = widths.begin(); total > most; --total, --*widest) {
    widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kLeastColumnWidth) break;
  }
  return widths;
}

// Breaks an entry at spaces, or anywhere in words that are wider than the column.
std::vector<std::string> broken(const std::string& entry, std::size_t width) {
  const std::string text = entry.size() <= width ? entry : wrapped(entry, width);
  std::vector<std::string> lines;
  for (std::string_view line : lines_of(text)) {
    for (; line.size() > width; line.remove_prefix(width)) lines.emplace_back(line.substr(0, width));
    lines.emplace_back(line);
  }
  return lines;
}

bool needs_quotes(const std::string& entry) { return entry.find_first_of(",\"\n\r") != std::string::npos; }

std::string quoted(const std::string& entry) {
  std::string text = "\"";
  for (const char c : entry) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string columns_text(const Rows& rows, std::size_t width, const std::string& indent) {
  const std::vector<std::size_t> widths = widths_of(rows, width == 0 ? 0 : width - std::min(width - 1, indent.size()));
  std::string text;
  for (const auto& row : rows) {
    std::vector<std::vector<std::string>> entries;
    std::size_t height = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      entries.push_back(broken(row[c], widths[c]));
      height = std::max(height, entries.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line = indent;
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string part = l < entries[c].size() ? entries[c][l] : "";
        line += part + std::string(widths[c] - part.size() + kGap, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

Rows without_blank_columns(const Rows& rows) {
  Rows left(rows.size());
  for (std::size_t c = 0; !rows.empty() && c < rows.front().size(); ++c) {
    const bool says_nothing = rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(), [c](const auto& row) {
                                return row[c].empty() || row[c] == "-";
                              });
    if (says_nothing) continue;
    for (std::size_t r = 0; r < rows.size(); ++r) left[r].push_back(rows[r][c]);
  }
  return left;
}

void print_columns(const Rows& rows, const std::string& indent) {
  fputs(columns_text(rows, terminal_width(), indent).c_str(), stdout);
}

std::string csv_text(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) text += ',';
      text += needs_quotes(row[c]) ? quoted(row[c]) : row[c];
    }
    text += '\n';
  }
  return text;
}

}  // namespace ferry::text
