#include "device-runtime/device/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace ferry::device {
namespace {

constexpr std::uint64_t kBlockAlignment = 64;
constexpr std::uint64_t kOwnMapping = 128 << 10;
constexpr std::uint64_t kHugePages = 4 << 20;

}  // namespace

void* take_host_memory(std::uint64_t bytes) {
  if (bytes > SIZE_MAX - kBlockAlignment) return nullptr;
  if (bytes < kOwnMapping) {
    const auto rounded = static_cast<std::size_t>((bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment);
    void* memory = std::aligned_alloc(kBlockAlignment, rounded);
    if (memory != nullptr) std::memset(memory, 0, rounded);
    return memory;
  }
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // Huge pages mean fewer page faults while data arrives and fewer TLB misses while kernels run. The advice may be
  // refused.
  if (bytes >= kHugePages) madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

void* map_host_memory(int object, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes < kOwnMapping || bytes > SIZE_MAX) return nullptr;
  void* memory = mmap64(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, object,
                        static_cast<off64_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

void return_host_memory(void* memory, std::uint64_t bytes) {
  if (memory == nullptr) return;
  if (bytes < kOwnMapping) {
    std::free(memory);
  } else {
    munmap(memory, static_cast<std::size_t>(bytes));
  }
}

}  // namespace ferry::device
