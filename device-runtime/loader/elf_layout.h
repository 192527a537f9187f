// First step of loading: the segments that the headers of a code image request, checked against the file before any
// memory is mapped.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::device {

// Limit of the memory of one image, including zero-initialised data.
inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{256} << 20;

struct ElfSegment {
  std::uint64_t address = 0;  // relative to the image's start
  std::uint64_t memory_bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_bytes = 0;
  bool writable = false;
  bool executable = false;
};

struct ElfRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct ElfLayout {
  std::vector<ElfSegment> segments;  // ascending; no two segments share a page
  ElfRange dynamic;
  ElfRange relro;  // empty if there is none; always inside one writable segment
  std::uint64_t span = 0;
  std::uint64_t alignment = 0;  // a power of two, at least the page size
};

// Returns invalid_argument if the file is not a well-formed shared object and unsupported if this machine or loader
// cannot run it. The message states the reason without naming the module.
Result<ElfLayout> read_elf_layout(std::span<const std::uint8_t> file, std::uint64_t page_bytes);

// Returns the architecture of an ELF header's machine number, spelled as in manifests; "machine 243 of class 2" if it
// is unknown.
std::string elf_machine_name(std::uint16_t machine, std::uint8_t elf_class);

}  // namespace ferry::device
