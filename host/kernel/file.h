// Reads and writes the files that a user names.
#pragma once

#include <cstddef>
#include <string>

namespace ferry {

// Returns the bytes of a file, or of stdin for "-". Throws UsageError that says why it cannot be read.
std::string read_file(const std::string& name);
// Replaces the file once everything has been written; "-" is standard output. Throws UsageError that says why it cannot
// be written.
void write_file(const std::string& name, const void* bytes, std::size_t count);

}  // namespace ferry
