// Files and folders of a store in a folder. Other processes, or whoever can write to the folder, may have damaged them
// or put something else in their place. All functions throw StoreFailed with the path.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace ferry::gate {

struct StoreFile {
  Descriptor file;
  std::uint64_t bytes = 0;
};

// Opens a file. It neither follows a link nor waits for a pipe's other end. Returns nothing if there is no such file.
std::optional<StoreFile> open_store_file(const std::string& path, int flags);
// Does the same for a file that is ignored unless it is a regular one.
std::optional<StoreFile> open_if_regular(const std::string& path, int flags);

// Reads from an offset on until the buffer is full or the file ends, and returns how many bytes there were.
std::size_t read_from(const StoreFile& file, const std::string& path, std::uint64_t offset,
                      std::span<std::uint8_t> into);
// Returns the whole of a file, or nothing if there is none. Refuses one of more than `most` bytes.
std::optional<std::string> read_store_file(const std::string& path, std::uint64_t most);
void replace_store_file(const std::string& path, std::string_view text);
// Returns whether there was such a file.
bool delete_store_file(const std::string& path);

// Returns the names in a folder, which is no link; none if there is no such folder.
std::vector<std::string> names_in(const std::string& folder);
// Creates the folder and those above it, where they do not exist.
void create_store_folder(const std::string& folder);
// Refuses a link, or anything else, in the place of a folder. There may be none.
void expect_folder_if_any(const std::string& folder);

// States the reason that errno has.
[[noreturn]] void fail_to(const char* what, const std::string& path);

}  // namespace ferry::gate
