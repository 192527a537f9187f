#include "tests/fuzz/cases/guarded_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace ferry::fuzz {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 64;
constexpr std::uint8_t kPattern = 0x5a;

std::size_t rounded_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, std::uint8_t fill) : bytes_(bytes) {
  // The pattern before the data spans at least one alignment unit.
  const std::size_t used = rounded_up(rounded_up(bytes, kAlignment) + kAlignment, kPage);
  mapped_ = used + 2 * kPage;
  void* const mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::uint8_t*>(mapping);
  if (mprotect(mapping_ + kPage, used, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  std::memset(mapping_ + kPage, kPattern, used);
  data_ = mapping_ + kPage + used - rounded_up(bytes, kAlignment);
  std::memset(data_, fill, bytes);
}

GuardedMemory::~GuardedMemory() { munmap(mapping_, mapped_); }

bool GuardedMemory::is_intact() const {
  for (const std::uint8_t* at = mapping_ + kPage; at < data_; ++at)
    if (*at != kPattern) return false;
  for (const std::uint8_t* at = data_ + bytes_; at < mapping_ + mapped_ - kPage; ++at)
    if (*at != kPattern) return false;
  return true;
}

}  // namespace ferry::fuzz
