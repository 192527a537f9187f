#include "crosscompile/backend/cuda/map_diagnostics.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <vector>

#include "base/lines.h"
#include "crosscompile/codegen/source/kernel.h"

namespace ferry {
namespace {

constexpr std::string_view kError = "): error";

// Returns the line numbers that have errors, counted from 1, each once.
std::set<std::size_t> lines_with_errors(const std::string& diagnostics) {
  std::set<std::size_t> numbers;
  for (std::size_t at = diagnostics.find(kError); at != std::string::npos; at = diagnostics.find(kError, at + 1)) {
    const std::size_t open = diagnostics.rfind('(', at);
    std::size_t number = 0;
    if (open == std::string::npos) continue;
    const auto [end, error] = std::from_chars(&diagnostics[open + 1], &diagnostics[at], number);
    if (error == std::errc() && end == &diagnostics[at]) numbers.insert(number);
  }
  return numbers;
}

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Returns the tensor that the line stores to: "B" for "  B[i] = f(A[i]);".
std::string_view stored(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto end = static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_name) - line.begin());
  const bool is_store = end > 0 && end < line.size() && line[end] == '[' && line.find("] = ") != std::string_view::npos;
  return is_store ? line.substr(0, end) : std::string_view();
}

// Returns the function whose kernel begins in this line, or null.
const ir::Function* kernel_of(std::string_view line, std::span<const ir::Function> functions) {
  if (!line.ends_with('(')) return nullptr;
  const ir::Function* found = nullptr;
  std::size_t longest = 0;
  for (const ir::Function& function : functions) {
    const std::string symbol = codegen::source::symbol_of(function);
    if (line.find(symbol) == std::string_view::npos || symbol.size() <= longest) continue;
    found = &function;
    longest = symbol.size();
  }
  return found;
}

// Searches downwards for the store, because part of the computation may stand on lines of its own above it.
std::string explanation(const std::vector<std::string_view>& lines, std::size_t number,
                        std::span<const ir::Function> functions) {
  const ir::Function* function = nullptr;
  for (std::size_t i = number; i-- > 0 && function == nullptr;) function = kernel_of(lines[i], functions);
  std::string_view tensor;
  for (std::size_t i = number - 1; i < lines.size() && tensor.empty() && lines[i] != "}"; ++i)
    tensor = stored(lines[i]);
  if (function == nullptr || tensor.empty()) return "";
  std::string text =
      "\nline " + std::to_string(number) + " computes '" + std::string(tensor) + "' of '" + function->name + "'";
  if (function->lines == nullptr) return text;
  const auto line = function->lines->stores.find(std::string(tensor));
  return text + " (" + function->lines->file + ":" +
         std::to_string(line == function->lines->stores.end() ? function->lines->line : line->second) + ")";
}

}  // namespace

std::string map_diagnostics(const std::string& diagnostics, const std::string& text,
                            std::span<const ir::Function> functions) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::string all;
  for (const std::size_t number : lines_with_errors(diagnostics)) {
    if (number >= 1 && number <= lines.size()) all += explanation(lines, number, functions);
  }
  return all;
}

}  // namespace ferry
