// Pages of files that are mapped shared and read-only: the process can drop them from its memory at any time, since
// they are read from the file again when they are accessed.
#pragma once

#include <cstdint>

namespace ferry::device {

// Drops all pages that hold some of the bytes. Memory that is no such mapping would lose its contents.
void drop_mapped_pages(const void* memory, std::uint64_t bytes);

}  // namespace ferry::device
