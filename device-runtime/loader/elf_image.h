// A code image in memory, ready to run: position-independent shared objects as lld writes them, for this machine.
// Trusts nothing in the file: what is wrong is refused with a sentence, and loading runs no code of it.
#pragma once

#include "device-runtime/loader/dynamic_table.h"
#include "device-runtime/loader/image_memory.h"

#include <string_view>

namespace ferry::device {

class ElfImage {
 public:
  // The bytes are copied. What the image imports and devices do not offer is looked for in the library, which must live
  // as long. invalid_argument, unsupported or resource_exhausted.
  static Result<ElfImage> load(std::span<const std::uint8_t> file, const ElfImage* library = nullptr);

  // The address of a function the image exports; valid as long as the image.
  Result<void*> function(std::string_view name) const;

  std::uint64_t memory_bytes() const { return memory_.span(); }
  const std::byte* base() const { return memory_.at(0); }

 private:
  ElfImage(ImageMemory memory, const DynamicTable& table) : memory_(std::move(memory)), table_(table) {}

  ImageMemory memory_;
  DynamicTable table_;
};

}  // namespace ferry::device
