// Owns the memory of one code image, which is first readable and writable, then split into read+execute, read and
// read+write. Addresses are relative to the image's start.
#pragma once

#include "device-runtime/loader/elf_layout.h"

#include <cstddef>
#include <cstring>
#include <vector>

namespace ferry::device {

class ImageMemory {
 public:
  // Maps the layout and copies the segments' bytes from the file.
  static Result<ImageMemory> map(const ElfLayout& layout, std::span<const std::uint8_t> file, std::uint64_t page_bytes);
  ImageMemory(ImageMemory&& other) noexcept;
  ImageMemory& operator=(ImageMemory&&) = delete;
  ~ImageMemory();

  // Sets the final protection of every segment and makes new code visible to instruction fetch.
  Status protect(const ElfLayout& layout, std::uint64_t page_bytes);

  bool readable(std::uint64_t address, std::uint64_t bytes) const { return find(address, bytes) != nullptr; }
  bool writable(std::uint64_t address, std::uint64_t bytes) const {
    const ElfSegment* segment = find(address, bytes);
    return segment != nullptr && segment->writable;
  }
  bool executable(std::uint64_t address) const {
    const ElfSegment* segment = find(address, 1);
    return segment != nullptr && segment->executable;
  }

  // Only for ranges for which readable() or writable() returned true; addresses may be unaligned.
  template <class T>
  T read(std::uint64_t address) const {
    T value;
    std::memcpy(&value, base_ + address, sizeof value);
    return value;
  }
  template <class T>
  void write(std::uint64_t address, const T& value) {
    std::memcpy(base_ + address, &value, sizeof value);
  }

  std::byte* at(std::uint64_t address) const { return base_ + address; }
  std::uint64_t span() const { return span_; }

 private:
  ImageMemory(void* mapping, std::uint64_t mapping_bytes, const ElfLayout& layout);
  Status protect_relocated(const ElfRange& relro, std::uint64_t page_bytes);
  Status protect_range(std::uint64_t begin, std::uint64_t end, int protection);
  const ElfSegment* find(std::uint64_t address, std::uint64_t bytes) const;

  void* mapping_ = nullptr;
  std::uint64_t mapping_bytes_ = 0;
  std::byte* base_ = nullptr;  // mapping_ rounded up to the image's alignment
  std::uint64_t span_ = 0;
  std::vector<ElfSegment> segments_;
};

}  // namespace ferry::device
