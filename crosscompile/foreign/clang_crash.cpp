#include "crosscompile/foreign/clang_crash.h"

#include <algorithm>
#include <string_view>

namespace ferry::foreign {
namespace {

constexpr std::string_view kBackend = "error in backend: ";
constexpr std::size_t kMostCause = 100;

// Returns what stands between `begin` and `end` at its first occurrence.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find_first_of(end, from) - from);
}

// Returns "f.c:3" for the first line that contains the word, or the file if none does.
std::string line_with(const std::string& source, std::string_view word, const std::string& file) {
  const std::size_t at = source.find(word);
  if (at == std::string::npos) return file;
  return file + ":" +
         std::to_string(1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

bool is_clang_crash(const std::string& errors) {
  return errors.find(kBackend) != std::string::npos || errors.find("PLEASE submit a bug report") != std::string::npos;
}

std::string crash_text(const std::string& errors, const std::string& source, const std::string& file,
                       const Target& target) {
  const std::string on = " cannot be compiled for " + target.arch_name + ": ";
  if (errors.find("bf16") != std::string::npos && source.find("__bf16") != std::string::npos) {
    return line_with(source, "__bf16", file) + on + "clang cannot compute with __bf16 there; expected uint16_t for " +
           "memory, and float for numbers";
  }
  std::string function = between(errors, "In function: ", "\n");
  if (function.empty()) function = between(errors, "on function '@", "'");
  std::string cause = between(errors, kBackend, "\n");
  if (cause.size() > kMostCause) cause = cause.substr(0, kMostCause) + "...";
  return file + on + "clang's code generator fails" + (function.empty() ? "" : " in the function " + function) +
         (cause.empty() ? "" : " (" + cause + ")");
}

}  // namespace ferry::foreign
