#include "base/suggest.h"

#include <algorithm>
#include <numeric>

namespace ferry {
namespace {

// Returns the Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string>& known,
                                       std::size_t count) {
  const std::string_view shown = wrong.substr(0, 64);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;
  for (std::size_t i = 0; i < known.size(); ++i) ranked.emplace_back(edit_distance(shown, known[i]), i);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ranked.size() && i < count; ++i) names.push_back(known[ranked[i].second]);
  return names;
}

std::string likely_meant(std::string_view wrong, const std::vector<std::string>& known) {
  constexpr std::size_t kMostEdits = 2;
  const std::vector<std::string> nearest = nearest_names(wrong, known, 1);
  if (nearest.empty()) return {};
  const std::size_t shorter = std::min(wrong.size(), nearest.front().size());
  const std::size_t longer = std::max(wrong.size(), nearest.front().size());
  if (longer - shorter > kMostEdits) return {};  // without the time for long names
  return edit_distance(wrong, nearest.front()) <= std::min(kMostEdits, shorter / 2) ? nearest.front() : "";
}

std::string unknown_name(std::string_view what, std::string_view wrong, const std::vector<std::string>& known) {
  return "unknown " + std::string(what) + " '" + std::string(wrong) + "'; the nearest known are " +
         joined(nearest_names(wrong, known, 3));
}

}  // namespace ferry
