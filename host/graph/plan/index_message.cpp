#include "host/graph/plan/index_message.h"

#include "base/printable.h"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace ferry::graph {
namespace {

constexpr std::size_t kMostNameBytes = 80;

// Returns the number behind the 'x' at a position, and moves the position behind it.
std::optional<std::size_t> parameter_at(std::string_view text, std::size_t& at) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  if (at >= text.size() || text[at] != 'x') return std::nullopt;
  const auto [next, error] = std::from_chars(text.data() + at + 1, end, number);
  if (error != std::errc()) return std::nullopt;
  at = static_cast<std::size_t>(next - text.data());
  return number;
}

std::optional<std::string> name_of(std::span<const std::string> tensors, std::size_t number) {
  if (number >= tensors.size() || tensors[number].empty()) return std::nullopt;
  return "'" + printable(tensors[number].substr(0, kMostNameBytes)) + "'";
}

// Returns the name of the first tensor of which the index has an element.
std::optional<std::string> index_tensor(std::string_view index, std::span<const std::string> tensors) {
  for (std::size_t at = index.find('x'); at != std::string_view::npos; at = index.find('x', at + 1)) {
    std::size_t behind = at;
    const std::optional<std::size_t> number = parameter_at(index, behind);
    const bool is_word =
        at > 0 && (std::isalnum(static_cast<unsigned char>(index[at - 1])) != 0 || index[at - 1] == '_');
    if (number && !is_word && behind < index.size() && index[behind] == '[') return name_of(tensors, *number);
  }
  return std::nullopt;
}

}  // namespace

std::string in_words_of_network(const std::string& message, std::span<const std::string> tensors) {
  constexpr std::string_view kReads = " reads '", kOutside = "' outside its shape: expected ", kAs = " as index ",
                             kWithin = " to stay within 0:";
  const std::size_t reads = message.find(kReads);
  if (reads == std::string::npos) return message;
  std::size_t at = reads + kReads.size();
  const std::optional<std::size_t> read = parameter_at(message, at);
  const std::size_t as = message.rfind(kAs), within = message.rfind(kWithin);
  const bool is_known = read && std::string_view(message).substr(at).starts_with(kOutside) && as != std::string::npos &&
                        within != std::string::npos && at < as && as < within;
  const std::optional<std::string> table = is_known ? name_of(tensors, *read) : std::nullopt;
  if (!table) return message;
  const std::size_t begin = at + kOutside.size();
  const std::optional<std::string> indices = index_tensor(std::string_view(message).substr(begin, as - begin), tensors);
  const std::string size = message.substr(within + kWithin.size());
  const bool is_number = !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
  return "an index" + (indices ? " in " + *indices : "") + " is outside of " +
         (is_number ? "the " + size + " entries of " : "") + *table;
}

}  // namespace ferry::graph
