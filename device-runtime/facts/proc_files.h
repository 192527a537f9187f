// Reads small files of /proc and /sys as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ferry::device {

// Returns at most 256 KiB of the file; empty if it cannot be read.
std::string read_small_file(const char* path);
// The same for an open file, which may be read again and again.
std::string read_small_file(int file);

// Returns the value of the first line "key : value" of /proc/cpuinfo with this key; empty if there is none.
std::string cpuinfo_value(std::string_view key);

// Calls visit(key, whole line) for each line "key : value" of the text.
template <class Visit>
void for_each_field(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::size_t last = line.substr(0, colon).find_last_not_of(" \t");
    if (last != std::string_view::npos) visit(line.substr(0, last + 1), line);
  }
}

// Returns the text after the colon, without surrounding spaces.
std::string_view field_value(std::string_view line);

// Parses "32K", "512", "8192 kB" or "2M" as a number of bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace ferry::device
