// Tensor memory in this process. Large blocks are mappings of their own, so that freeing them returns the memory to the
// system at once.
#pragma once

#include <cstdint>

namespace ferry::device {

// Returns zeroed memory aligned to 64 bytes; null if there is none. Requires bytes > 0.
void* take_host_memory(std::uint64_t bytes);
// Requires the same number of bytes as the allocation. Null is ignored.
void return_host_memory(void* memory, std::uint64_t bytes);

}  // namespace ferry::device
