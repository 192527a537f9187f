// Reads and writes the files that a user names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ferry/client.h"

namespace ferry {

// Returns the bytes of a file, or of stdin for "-". Throws UsageError that says why it cannot be read.
std::string read_file(const std::string& name);
// Whether the content of a file begins as that of a .ferry module.
bool is_module(std::string_view content);
// Whether this is a file, not stdin, whose content begins so.
bool is_module_file(const std::string& name);
// Replaces the file once everything has been written; "-" is standard output. Throws UsageError that says why it cannot
// be written.
void write_file(const std::string& name, const void* bytes, std::size_t count);
// Likewise for a module, with the contents of its blobs.
void write_module(const std::string& name, const CompiledModule& module);
// Whether write_file() replaces the file as a whole, so that it can be written more than once: standard output and
// pipes take everything that is written to them.
bool is_replaceable(const std::string& name);
// Throws the same error before the work whose result the file is to hold, if the file certainly cannot be written.
void expect_writable(const std::string& name);

}  // namespace ferry
