#include "farm/core/selector/selector.h"

#include <algorithm>
#include <bit>

#include "base/quantity_text.h"
#include "farm/core/selector/selector_names.h"

namespace ferry::farm {
namespace {

bool compare(std::uint64_t left, Comparison comparison, std::uint64_t right) {
  switch (comparison) {
    case Comparison::equal: return left == right;
    case Comparison::not_equal: return left != right;
    case Comparison::at_least: return left >= right;
    case Comparison::at_most: return left <= right;
    case Comparison::more: return left > right;
    case Comparison::less: return left < right;
  }
  return false;
}

bool has_text(const BoardDescription& board, TextKey key, const std::string& text) {
  switch (key) {
    case TextKey::arch: return board.arch == text;
    case TextKey::cpu: return board.cpu == text;
    case TextKey::feature: return std::find(board.features.begin(), board.features.end(), text) != board.features.end();
    case TextKey::model: return board.model == text;
    case TextKey::name: return board.name == text;
  }
  return false;
}

// Returns the memory that a board was made with, of which it reports a part.
std::uint64_t nominal_bytes(std::uint64_t reported) {
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(reported) / 4, 1);
  return reported > UINT64_MAX - step ? reported : (reported + step - 1) / step * step;
}

std::uint64_t number_of(const BoardDescription& board, NumberKey key) {
  switch (key) {
    case NumberKey::cores: return board.cores;
    case NumberKey::memory: return nominal_bytes(board.memory_bytes);
  }
  return 0;
}

struct Matcher {
  const BoardDescription& board;

  bool operator()(const NameTerm& term) const {
    return board.name == term.name || board.model == term.name || board.tags.contains(term.name);
  }
  bool operator()(const TextTerm& term) const { return has_text(board, term.key, term.text) == term.is_equal; }
  bool operator()(const NumberTerm& term) const {
    return compare(number_of(board, term.key), term.comparison, term.number);
  }
  bool operator()(const TagTerm& term) const {
    const auto found = board.tags.find(term.key);
    return found != board.tags.end() && (!term.value || found->second == *term.value);
  }
  bool operator()(const DeviceTerm& term) const {
    return std::any_of(board.devices.begin(), board.devices.end(), [&](const BoardDevice& device) {
      return device.kind == term.kind && (term.arch.empty() || device.arch == term.arch);
    });
  }
};

std::string memory_text(std::uint64_t bytes) {
  for (const auto& [letter, unit] : kUnits)
    if (bytes != 0 && bytes % unit == 0) return std::to_string(bytes / unit) + letter;
  return std::to_string(bytes);
}

struct Printer {
  std::string operator()(const NameTerm& term) const { return term.name; }
  std::string operator()(const TextTerm& term) const {
    return std::string(kTextKeys[static_cast<std::size_t>(term.key)]) + (term.is_equal ? "=" : "!=") + term.text;
  }
  std::string operator()(const NumberTerm& term) const {
    return std::string(kNumberKeys[static_cast<std::size_t>(term.key)]) +
           std::string(kComparisons[static_cast<std::size_t>(term.comparison)]) +
           (term.key == NumberKey::memory ? memory_text(term.number) : std::to_string(term.number));
  }
  std::string operator()(const TagTerm& term) const {
    return "tag:" + term.key + (term.value ? "=" + *term.value : "");
  }
  std::string operator()(const DeviceTerm& term) const {
    return term.kind + (term.arch.empty() ? "" : " -arch=" + term.arch);
  }
};

}  // namespace

bool matches(const Term& term, const BoardDescription& board) { return std::visit(Matcher{board}, term); }

bool matches(const Selector& selector, const BoardDescription& board) {
  return std::all_of(selector.terms.begin(), selector.terms.end(),
                     [&](const Term& term) { return matches(term, board); });
}

std::string to_text(const Term& term) { return std::visit(Printer{}, term); }

std::string to_text(const Selector& selector) {
  std::vector<std::string> texts;
  for (const Term& term : selector.terms) texts.push_back(to_text(term));
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return join(",", texts);
}

std::string explain_no_match(const Selector& selector, const std::vector<const BoardDescription*>& boards) {
  if (boards.empty()) return "the farm has no boards";
  for (const Term& term : selector.terms) {
    const bool some =
        std::any_of(boards.begin(), boards.end(), [&](const BoardDescription* board) { return matches(term, *board); });
    if (!some) return "no board has " + to_text(term);
  }
  return "no board has all of " + to_text(selector);
}

}  // namespace ferry::farm
