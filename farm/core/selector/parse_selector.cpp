#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

#include "base/format.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "farm/core/selector/selector.h"
#include "farm/core/selector/selector_names.h"

namespace ferry::farm {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '+';
}

// Returns the position of `word` in `words`, or nothing.
std::optional<std::size_t> find_word(std::span<const std::string_view> words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Selector> parse() {
    if (text_.size() > kMaxSelectorBytes) {
      return Status(ErrorCode::invalid_argument,
                    format("expected a selector of at most %zu bytes, got %zu", kMaxSelectorBytes, text_.size()));
    }
    Selector selector;
    do {
      FERRY_ASSIGN(Term term, parse_term());
      selector.terms.push_back(std::move(term));
      skip_spaces();
    } while (skip(","));
    if (at_ != text_.size()) return expected("',' or the end");
    return selector;
  }

 private:
  Result<Term> parse_term() {
    skip_spaces();
    if (skip("tag:")) return parse_tag();
    const std::size_t start = at_;
    const std::string_view word = take_name();
    if (word.empty()) return expected("a name, a key, 'tag:' or a device");
    skip_spaces();
    const auto comparison = take_comparison();
    if (!comparison) {
      if (find_word(kDeviceKinds, word)) return parse_device(word);
      return Term(NameTerm{std::string(word)});
    }
    if (const auto key = find_word(kTextKeys, word)) return parse_text(static_cast<TextKey>(*key), *comparison);
    if (const auto key = find_word(kNumberKeys, word)) return parse_number(static_cast<NumberKey>(*key), *comparison);
    at_ = start;
    return expected("one of the keys " + join(", ", key_names()) + " before a comparison");
  }

  Result<Term> parse_tag() {
    const std::string_view key = take_name();
    if (key.empty()) return expected("a tag's name");
    TagTerm term{std::string(key), std::nullopt};
    if (skip("=")) {
      const std::string_view value = take_name();
      if (value.empty()) return expected("a tag's value");
      term.value = std::string(value);
    }
    return Term(std::move(term));
  }

  Result<Term> parse_device(std::string_view kind) {
    DeviceTerm term{std::string(kind), ""};
    if (!text_.substr(at_).starts_with("-")) return Term(std::move(term));
    if (!skip("-arch=")) return expected("'-arch='");
    term.arch = std::string(take_name());
    if (term.arch.empty()) return expected("an architecture, such as sm_90");
    return Term(std::move(term));
  }

  Result<Term> parse_text(TextKey key, Comparison comparison) {
    if (comparison != Comparison::equal && comparison != Comparison::not_equal) {
      at_ = comparison_start_;
      return expected("'=' or '!='");
    }
    skip_spaces();
    const std::string_view text = take_name();
    if (text.empty()) return expected("a name");
    return Term(TextTerm{key, comparison == Comparison::equal, std::string(text)});
  }

  Result<Term> parse_number(NumberKey key, Comparison comparison) {
    skip_spaces();
    const bool is_memory = key == NumberKey::memory;
    const std::string what = is_memory ? "a size, such as 2G" : "a number";
    const std::size_t start = at_;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return expected(what);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (is_memory) {
      for (const auto& [letter, unit] : kUnits) {
        if (!skip(std::string_view(&letter, 1))) continue;
        if (number > std::numeric_limits<std::uint64_t>::max() / unit) {
          at_ = start;
          return expected("a size below 2^64 bytes");
        }
        number *= unit;
        break;
      }
    }
    if (at_ < text_.size() && is_name_character(text_[at_])) {
      at_ = start;
      return expected(what);
    }
    return Term(NumberTerm{key, comparison, number});
  }

  static std::vector<std::string> key_names() {
    std::vector<std::string> names(kTextKeys.begin(), kTextKeys.end());
    names.insert(names.end(), kNumberKeys.begin(), kNumberKeys.end());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::optional<Comparison> take_comparison() {
    comparison_start_ = at_;
    for (std::size_t i = 0; i < kComparisons.size(); ++i)
      if (skip(kComparisons[i])) return static_cast<Comparison>(i);
    return std::nullopt;
  }

  std::string_view take_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool skip(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  Status expected(const std::string& what) const {
    constexpr std::size_t kShown = 24;
    const std::string_view rest = text_.substr(at_);
    const std::string got = rest.empty() ? "the end" : "'" + printable(rest.substr(0, kShown)) + "'";
    return {ErrorCode::invalid_argument, "selector '" + printable(text_) + "': expected " + what + ", got " + got +
                                             format(" at character %zu", at_ + 1)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t comparison_start_ = 0;
};

}  // namespace

Result<Selector> parse_selector(std::string_view text) { return Parser(text).parse(); }

}  // namespace ferry::farm
