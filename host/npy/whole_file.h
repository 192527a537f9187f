// Files that are there whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ferry::npy {

// Writes the bytes to a new file beside `path`, which then takes its place: what was there before stays when the disk
// is full or the program is ended. "-" is standard output; what is no regular file (a device, a pipe) is written to as
// it stands. Returns 0, or the errno of what went wrong.
int write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace ferry::npy
