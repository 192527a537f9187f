#include "device-runtime/facts/proc_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxBytes = 256 << 10;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

std::string read_small_file(const char* path) {
  // Reading some of the kernel's files would otherwise block until there is news.
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return read_small_file(file.number());
}

std::string read_small_file(int file) {
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while (text.size() < kMaxBytes && (got = pread(file, piece, sizeof piece, static_cast<off_t>(text.size()))) > 0) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

std::string_view field_value(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 1));
}

std::string cpuinfo_value(std::string_view key) {
  const std::string text = read_small_file("/proc/cpuinfo");
  std::string value;
  for_each_field(text, [&](std::string_view name, std::string_view line) {
    if (value.empty() && name == key) value = field_value(line);
  });
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  text = trimmed(text);
  std::uint64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    if (number > (UINT64_MAX - 9) / 10) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(digits));
  const int shift = unit.empty() || unit == "B"   ? 0
                    : unit == "K" || unit == "kB" ? 10
                    : unit == "M"                 ? 20
                    : unit == "G"                 ? 30
                                                  : -1;
  if (shift < 0 || number > UINT64_MAX >> shift) return std::nullopt;
  return number << shift;
}

}  // namespace ferry::device
