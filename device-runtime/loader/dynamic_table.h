// Second step of loading: reads the dynamic section and checks that every table it refers to lies inside the image.
#pragma once

#include "device-runtime/loader/elf_native.h"
#include "device-runtime/loader/image_memory.h"

#include <string_view>

namespace ferry::device {

struct RelocationTable {
  std::uint64_t address = 0;
  std::uint64_t count = 0;
};

struct DynamicTable {
  std::uint64_t symbols = 0;
  std::uint32_t symbol_count = 0;
  std::uint64_t strings = 0;
  std::uint64_t string_bytes = 0;
  RelocationTable relocations;
  RelocationTable plt_relocations;
};

// Refuses constructors, destructors, text relocations and packed relocations; the message names the feature.
Result<DynamicTable> read_dynamic_table(const ImageMemory& image, const ElfRange& dynamic);

// Requires index < table.symbol_count.
elf::Sym read_symbol(const ImageMemory& image, const DynamicTable& table, std::uint32_t index);

// Returns an empty name if it lies outside the string table, does not end inside it or is longer than kMaxSymbolBytes.
std::string_view symbol_name(const ImageMemory& image, const DynamicTable& table, const elf::Sym& symbol);

}  // namespace ferry::device
