// A code image in memory, ready to run: a position-independent shared object for this machine as lld writes it. The
// file is untrusted: invalid files are refused with a message, and loading runs none of the image's code.
#pragma once

#include "device-runtime/loader/dynamic_table.h"
#include "device-runtime/loader/image_memory.h"

#include <string_view>

namespace ferry::device {

class ElfImage {
 public:
  // Copies the bytes. Imports that devices do not offer are resolved in the library, which must outlive the image.
  // Fails with invalid_argument, unsupported or resource_exhausted.
  static Result<ElfImage> load(std::span<const std::uint8_t> file, const ElfImage* library = nullptr);

  // Returns the address of a function that the image exports; it is valid as long as the image.
  Result<void*> function(std::string_view name) const;

  std::uint64_t memory_bytes() const { return memory_.span(); }
  const std::byte* base() const { return memory_.at(0); }

 private:
  ElfImage(ImageMemory memory, const DynamicTable& table) : memory_(std::move(memory)), table_(table) {}

  ImageMemory memory_;
  DynamicTable table_;
};

}  // namespace ferry::device
