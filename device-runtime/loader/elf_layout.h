// First step of loading: what the headers of a code image ask for, checked against the file before any memory is
// mapped.
#pragma once

#include "rpc/base/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::device {

// Memory that one image may ask for, zero-initialised data included.
inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{256} << 20;

struct ElfSegment {
  std::uint64_t address = 0;  // in the image, from 0
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
  std::vector<ElfSegment> segments;  // ascending, no two on one page
  ElfRange dynamic;
  ElfRange relro;  // empty when there is none; always inside one writable segment
  std::uint64_t span = 0;
  std::uint64_t alignment = 0;  // a power of two, at least a page
};

// invalid_argument for what is no well-formed shared object, unsupported for what this machine or loader cannot run;
// the message says which, without naming the module.
Result<ElfLayout> read_elf_layout(std::span<const std::uint8_t> file, std::uint64_t page_bytes);

// The architecture an ELF header's machine number stands for, as manifests spell it; "machine 243" when it has no name
// here.
std::string elf_machine_name(std::uint16_t machine, std::uint8_t elf_class);

}  // namespace ferry::device
