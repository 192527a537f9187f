// Writes a file completely or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ferry::npy {

// Writes the bytes to a new file beside `path`, which then replaces it: the previous contents survive if the disk is
// full or the program is killed. "-" is standard output; anything but a regular file (a device, a pipe) is written to
// in place. Returns 0, or the errno of the failure.
int write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace ferry::npy
