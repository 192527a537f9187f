// Writes a file completely or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace ferry::npy {

// Writes the bytes to a new file beside `path`, which then replaces it: the previous contents survive if the disk is
// full or the program is killed. "-" is standard output; anything but a regular file (a device, a pipe) is written to
// in place. Returns 0, or the errno of the failure.
int write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes);

// Appends to the file and returns 0, or the errno of the failure.
using AppendBytes = std::function<int(std::span<const std::uint8_t>)>;
// Likewise, for contents that `write` appends piece by piece; what it returns or throws other than 0 ends the writing.
int write_whole_file(const std::string& path, const std::function<int(const AppendBytes&)>& write);

}  // namespace ferry::npy
