#include "host/text/unified_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/lines.h"

namespace ferry::text {

namespace {

// Size limit of the table, which grows with the product of the lines that differ; beyond it they are shown as all
// removed and all added.
constexpr std::size_t kMostCells = 64'000'000;

struct Line {
  char kind;  // ' ', '-' or '+'
  std::string_view text;
};

// Computes the longest common subsequence with the classic table of lengths of suffixes.
std::vector<Line> compare(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const std::size_t rows = a.size() - head - tail, columns = b.size() - head - tail;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < head; ++i) lines.push_back({' ', a[i]});
  std::size_t i = 0, j = 0;
  if (rows > 0 && columns > 0 && rows <= kMostCells / columns) {
    const std::size_t width = columns + 1;
    std::vector<std::uint32_t> common((rows + 1) * width);
    for (std::size_t r = rows; r-- > 0;)
      for (std::size_t c = columns; c-- > 0;)
        common[r * width + c] = a[head + r] == b[head + c]
                                    ? common[(r + 1) * width + c + 1] + 1
                                    : std::max(common[(r + 1) * width + c], common[r * width + c + 1]);
    while (i < rows && j < columns) {
      if (a[head + i] == b[head + j]) {
        lines.push_back({' ', a[head + i]});
        ++i, ++j;
      } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
        lines.push_back({'-', a[head + i++]});
      } else {
        lines.push_back({'+', b[head + j++]});
      }
    }
  }
  while (i < rows) lines.push_back({'-', a[head + i++]});
  while (j < columns) lines.push_back({'+', b[head + j++]});
  for (std::size_t t = tail; t > 0; --t) lines.push_back({' ', a[a.size() - t]});
  return lines;
}

// Returns "3,7": the position and length of a hunk; an empty one is positioned at the line before it.
std::string range_text(std::size_t first, std::size_t count) {
  if (count == 0) return std::to_string(first) + ",0";
  return std::to_string(first + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

const char* colour_of(char kind) {
  switch (kind) {
    case '-': return "\033[31m";
    case '+': return "\033[32m";
    case '@': return "\033[36m";
    default: return "";
  }
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, const std::string& before_name,
                         const std::string& after_name, std::size_t context, bool coloured) {
  if (before == after) return "";
  const std::vector<Line> lines = compare(lines_of(before), lines_of(after));
  std::string out;
  const auto put = [&](char kind, const std::string& text) {
    const char* colour = coloured ? colour_of(kind) : "";
    out += colour + text + (*colour != 0 ? "\033[0m\n" : "\n");
  };
  put('-', "--- " + before_name);
  put('+', "+++ " + after_name);
  std::size_t old_line = 0, new_line = 0;  // before lines[at]
  for (std::size_t at = 0; at < lines.size();) {
    if (lines[at].kind == ' ') {
      ++at, ++old_line, ++new_line;
      continue;
    }
    // A hunk ends at a run of equal lines longer than two contexts.
    std::size_t end = at, last = at;
    for (; end < lines.size() && end - last <= 2 * context; ++end)
      if (lines[end].kind != ' ') last = end;
    const std::size_t start = at - std::min(at, context);
    end = std::min(last + 1 + context, lines.size());
    const std::size_t lead = at - start;
    std::size_t old_count = 0, new_count = 0;
    for (std::size_t i = start; i < end; ++i) {
      old_count += lines[i].kind != '+';
      new_count += lines[i].kind != '-';
    }
    put('@', "@@ -" + range_text(old_line - lead, old_count) + " +" + range_text(new_line - lead, new_count) + " @@");
    for (std::size_t i = start; i < end; ++i) put(lines[i].kind, lines[i].kind + std::string(lines[i].text));
    old_line += old_count - lead;
    new_line += new_count - lead;
    at = end;
  }
  return out;
}

}  // namespace ferry::text
