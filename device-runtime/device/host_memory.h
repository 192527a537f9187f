// Tensor memory in this process. Large blocks are mappings of their own, so that freeing them returns the memory to the
// system at once.
#pragma once

#include <cstdint>

namespace ferry::device {

// Returns zeroed memory aligned to 64 bytes; null if there is none. Requires bytes > 0.
void* take_host_memory(std::uint64_t bytes);
// Returns memory of at least 128 KiB that is a part of an object of the system, with what the object contains there;
// null if it is smaller or cannot be mapped.
void* map_host_memory(int object, std::uint64_t offset, std::uint64_t bytes);
// Requires the same number of bytes as the allocation. Null is ignored.
void return_host_memory(void* memory, std::uint64_t bytes);

}  // namespace ferry::device
