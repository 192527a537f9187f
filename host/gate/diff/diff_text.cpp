#include "host/gate/diff/diff_text.h"

#include <string_view>
#include <vector>

#include "base/lines.h"
#include "host/text/unified_diff.h"

namespace ferry::gate {

namespace {

// The limit of each side; the time and memory of a comparison grow with their product.
constexpr std::size_t kMostComparedLines = 4000;

std::string first_lines(const std::string& text) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.size() <= kMostComparedLines) return text;
  return text.substr(0, static_cast<std::size_t>(lines[kMostComparedLines].data() - text.data()));
}

}  // namespace

std::string shortened_lines(const std::string& text, std::size_t most) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.size() <= most) return text;
  return text.substr(0, static_cast<std::size_t>(lines[most].data() - text.data())) + "... and " +
         std::to_string(lines.size() - most) + " more lines\n";
}

std::string diff_of(const std::string& baseline, const std::string& current) {
  return shortened_lines(text::unified_diff(first_lines(baseline), first_lines(current), "baseline", "current"),
                         kMostDiffLines);
}

}  // namespace ferry::gate
