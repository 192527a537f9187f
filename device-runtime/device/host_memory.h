// Tensor memory in this process. Large blocks are mappings of their own, so that freeing them gives the memory back to
// the system at once.
#pragma once

#include <cstdint>

namespace ferry::device {

// Zeroed and aligned to 64 bytes; null when there is no memory. bytes > 0.
void* take_host_memory(std::uint64_t bytes);
// With the same number of bytes. Null is nothing.
void return_host_memory(void* memory, std::uint64_t bytes);

}  // namespace ferry::device
