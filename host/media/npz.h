// Archives of arrays that numpy.savez and numpy.savez_compressed write: ZIP files of .npy files (PKWARE's APPNOTE 6.3).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ferry::media {

bool is_npz(std::span<const std::uint8_t> file);

// Returns the contents of one of its files, of at most 2 GiB: `entry`.npy if the archive has that, and otherwise the
// only one. Throws UsageError that names the file and the mistake, such as several arrays of other names.
std::vector<std::uint8_t> read_npz(std::span<const std::uint8_t> file, const std::string& name,
                                   const std::string& entry);

}  // namespace ferry::media
