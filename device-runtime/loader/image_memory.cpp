#include "device-runtime/loader/image_memory.h"

#include "base/format.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

namespace ferry::device {
namespace {

Status system_failure(const char* what) {
  const ErrorCode code = errno == ENOMEM ? ErrorCode::resource_exhausted : ErrorCode::internal;
  return {code, format("code image: %s: %s", what, std::strerror(errno))};
}

// Returns memory at an address that depends on the process, where that is free. Processes that are forked from one
// would get equal addresses from the system; if they take turns on a core, branches at one address share the entries by
// which the processor predicts them, and loops can take several times as long. All places differ in the bits directly
// above those of a page, since processors keep few of the others, or combinations of them.
void* map_apart(std::uint64_t bytes) {
  constexpr std::uint64_t kAway = sizeof(void*) == 8 ? std::uint64_t{4} << 30 : 64 << 20, kWindow = 16 << 20;
  constexpr std::uint64_t kMostPlaces = 256;
  const auto map_at = [&](void* wish) {
    return mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  void* const usual = map_at(nullptr);
  const auto usual_address = reinterpret_cast<std::uintptr_t>(usual);
  if (usual == MAP_FAILED || usual_address < kAway + kWindow) return usual;
  const std::uint64_t size = std::bit_ceil(bytes);
  const std::uint64_t places = std::clamp<std::uint64_t>(kWindow / size, 1, kMostPlaces);
  const std::uint64_t begin = (usual_address - kAway) / (size * places) * (size * places);
  for (std::uint64_t i = 0; i < places; ++i) {
    // The next image of this process is far from those of the next processes.
    const std::uint64_t place = (static_cast<std::uint64_t>(getpid()) + i * (places / 4 + 1)) % places;
    void* const wish = reinterpret_cast<void*>(static_cast<std::uintptr_t>(begin + place * size));
    void* const mapping = map_at(wish);
    if (mapping == MAP_FAILED) break;
    munmap(mapping == wish ? usual : mapping, bytes);
    if (mapping == wish) return mapping;
  }
  return usual;
}

}  // namespace

ImageMemory::ImageMemory(void* mapping, std::uint64_t mapping_bytes, const ElfLayout& layout)
    : mapping_(mapping), mapping_bytes_(mapping_bytes), span_(layout.span), segments_(layout.segments) {
  const auto start = reinterpret_cast<std::uintptr_t>(mapping);
  const auto aligned = (start + layout.alignment - 1) & ~static_cast<std::uintptr_t>(layout.alignment - 1);
  base_ = static_cast<std::byte*>(mapping) + (aligned - start);
}

ImageMemory::ImageMemory(ImageMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      base_(other.base_),
      span_(other.span_),
      segments_(std::move(other.segments_)) {}

ImageMemory::~ImageMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

Result<ImageMemory> ImageMemory::map(const ElfLayout& layout, std::span<const std::uint8_t> file,
                                     std::uint64_t page_bytes) {
  const std::uint64_t bytes = layout.span + (layout.alignment - page_bytes);
  void* const mapping = map_apart(bytes);
  if (mapping == MAP_FAILED) return system_failure("cannot get memory");
  ImageMemory memory(mapping, bytes, layout);
  for (const ElfSegment& segment : layout.segments) {
    if (segment.file_bytes != 0) {
      std::memcpy(memory.at(segment.address), file.data() + segment.file_offset, segment.file_bytes);
    }
  }
  return memory;
}

Status ImageMemory::protect(const ElfLayout& layout, std::uint64_t page_bytes) {
  std::uint64_t covered = 0;
  for (const ElfSegment& segment : segments_) {
    const std::uint64_t first = segment.address / page_bytes * page_bytes;
    const std::uint64_t end = (segment.address + segment.memory_bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (segment.executable) {
      __builtin___clear_cache(reinterpret_cast<char*>(at(first)), reinterpret_cast<char*>(at(end)));
    }
    // Gaps between segments become inaccessible.
    FERRY_TRY(protect_range(covered, first, PROT_NONE));
    if (!segment.writable) FERRY_TRY(protect_range(first, end, PROT_READ | (segment.executable ? PROT_EXEC : 0)));
    covered = end;
  }
  return protect_relocated(layout.relro, page_bytes);
}

Status ImageMemory::protect_relocated(const ElfRange& relro, std::uint64_t page_bytes) {
  if (relro.bytes == 0) return {};
  // Only whole pages are protected: a page that the range shares with other data must stay writable.
  const std::uint64_t end = relro.address + relro.bytes;
  bool ends_segment = false;
  for (const ElfSegment& segment : segments_) {
    if (end == segment.address + segment.memory_bytes) ends_segment = true;
  }
  return protect_range(relro.address / page_bytes * page_bytes,
                       (ends_segment ? end + page_bytes - 1 : end) / page_bytes * page_bytes, PROT_READ);
}

Status ImageMemory::protect_range(std::uint64_t begin, std::uint64_t end, int protection) {
  if (begin >= end || mprotect(at(begin), end - begin, protection) == 0) return {};
  return system_failure("cannot protect memory");
}

const ElfSegment* ImageMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  for (const ElfSegment& segment : segments_) {
    if (address < segment.address) return nullptr;
    const std::uint64_t offset = address - segment.address;
    if (offset <= segment.memory_bytes && bytes <= segment.memory_bytes - offset) return &segment;
  }
  return nullptr;
}

}  // namespace ferry::device
