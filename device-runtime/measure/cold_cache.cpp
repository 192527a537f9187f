#include "device-runtime/measure/cold_cache.h"

#include <new>

namespace ferry::device {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kCanFlush = true;

// Valid for every processor of these architectures; a step smaller than the line would only flush lines twice.
std::uint64_t line_bytes() {
#if defined(__aarch64__)
  std::uint64_t type = 0;
  __asm__("mrs %0, ctr_el0" : "=r"(type));
  return std::uint64_t{4} << (type >> 16 & 15);  // the smallest data line; the field counts words
#else
  return 64;
#endif
}

void flush(const MemoryRange& range) {
  const std::uint64_t line = line_bytes();
  const auto first = reinterpret_cast<std::uint64_t>(range.begin) & ~(line - 1);
  const auto end = reinterpret_cast<std::uint64_t>(range.begin) + range.bytes;
  for (std::uint64_t address = first; address < end; address += line) {
#if defined(__aarch64__)
    __asm__ volatile("dc civac, %0" ::"r"(address) : "memory");
#else
    __asm__ volatile("clflush %0" ::"m"(*reinterpret_cast<const char*>(address)) : "memory");
#endif
  }
#if defined(__aarch64__)
  __asm__ volatile("dsb ish" ::: "memory");
#else
  __asm__ volatile("mfence" ::: "memory");
#endif
}
#else
constexpr bool kCanFlush = false;

void flush(const MemoryRange&) {}
#endif

}  // namespace

ColdCache::ColdCache(std::uint64_t largest_cache_bytes) {
  if (kCanFlush) return;
  wipe_bytes_ = 2 * (largest_cache_bytes != 0 ? largest_cache_bytes : std::uint64_t{16} << 20);
  wiper_.reset(new (std::nothrow) std::uint8_t[wipe_bytes_]());
}

bool ColdCache::is_ready() const { return kCanFlush || wiper_ != nullptr; }

void ColdCache::cool(std::span<const MemoryRange> ranges) {
  for (const MemoryRange& range : ranges) flush(range);
  volatile std::uint8_t* const bytes = wiper_.get();
  for (std::uint64_t i = 0; i < wipe_bytes_; i += 32) bytes[i] = static_cast<std::uint8_t>(bytes[i] + 1);
}

}  // namespace ferry::device
