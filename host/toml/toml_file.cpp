#include "host/toml/toml_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/format.h"
#include "base/lines.h"
#include "base/printable.h"
#include "host/toml/long_key.h"
#include "host/toml/value_advice.h"

namespace ferry {
namespace {

// With the most levels of values that the parser allows, this makes some thousand levels of tables.
constexpr std::size_t kMostKeyParts = 32;

Status unreadable(const std::string& path, const std::string& why) {
  return {ErrorCode::invalid_argument, format("%s: cannot be read: %s", printable(path).c_str(), why.c_str())};
}

Status too_long(const std::string& path, std::size_t most_bytes, const std::string& got) {
  return unreadable(path, format("expected at most %zu bytes, got %s", most_bytes, got.c_str()));
}

// Returns the parser's words, without those that say no more than the place does.
std::string description_of(const toml::parse_error& error, std::string_view text) {
  const toml::source_position at = error.source().begin;
  const std::vector<std::string_view> lines = lines_of(text);
  std::string_view why = error.description();
  constexpr std::string_view kNoise = "Error while parsing ";
  if (why.starts_with(kNoise)) why.remove_prefix(kNoise.size());
  const bool is_at_end = at.line >= 1 && at.line <= lines.size() && at.column > lines[at.line - 1].size();
  if (is_at_end && (why.starts_with("string: ") || why.starts_with("literal string: ")))
    return "expected the quote that ends the string";
  return printable(why);
}

}  // namespace

Status toml_failure(const std::string& path, const toml::source_region& where, const std::string& why) {
  return {ErrorCode::invalid_argument, printable(path) + ":" + std::to_string(where.begin.line) + ": " + why};
}

Result<std::string> read_toml_text(const std::string& path, std::size_t most_bytes) {
  // O_NONBLOCK, in case the file is a pipe.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.number() < 0 || fstat(file.number(), &info) != 0) return unreadable(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return unreadable(path, "expected a file, got something else");
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(file.number(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path, std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > most_bytes) return too_long(path, most_bytes, "more");
  }
}

Result<toml::table> parse_toml(std::string_view text, const std::string& path, std::size_t most_bytes) {
  if (text.size() > most_bytes) return too_long(path, most_bytes, std::to_string(text.size()));
  if (const auto line = line_of_long_key(text, kMostKeyParts)) {
    return Status(ErrorCode::invalid_argument, format("%s:%zu: expected a key of at most %zu parts, such as a.b",
                                                      printable(path).c_str(), *line, kMostKeyParts));
  }
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    std::string why = value_advice(text, at.line, at.column).value_or(description_of(error, text));
    return Status(ErrorCode::invalid_argument,
                  format("%s:%zu:%zu: ", printable(path).c_str(), std::size_t{at.line}, std::size_t{at.column}) + why);
  }
}

}  // namespace ferry
