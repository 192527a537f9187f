#include "device-runtime/loader/elf_image.h"

#include "base/format.h"
#include "device-runtime/loader/relocate.h"

#include <unistd.h>

namespace ferry::device {

Result<ElfImage> ElfImage::load(std::span<const std::uint8_t> file, const ElfImage* library) {
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  FERRY_ASSIGN(const ElfLayout layout, read_elf_layout(file, page_bytes));
  FERRY_ASSIGN(ImageMemory memory, ImageMemory::map(layout, file, page_bytes));
  FERRY_ASSIGN(const DynamicTable table, read_dynamic_table(memory, layout.dynamic));
  FERRY_TRY(relocate(memory, table, library));
  FERRY_TRY(memory.protect(layout, page_bytes));
  return ElfImage(std::move(memory), table);
}

Result<void*> ElfImage::function(std::string_view name) const {
  for (std::uint32_t i = 1; i < table_.symbol_count; ++i) {
    const elf::Sym symbol = read_symbol(memory_, table_, i);
    if (symbol.st_shndx == SHN_UNDEF || symbol_name(memory_, table_, symbol) != name) continue;
    const auto type = symbol.st_info & 0xf;
    // Addresses of Thumb functions have the lowest bit set.
    if (type != STT_FUNC || !memory_.executable(symbol.st_value & ~std::uint64_t{1})) {
      return Status(ErrorCode::unsupported, format("'%s' is not a function", std::string(name).c_str()));
    }
    return static_cast<void*>(memory_.at(symbol.st_value));
  }
  return Status(ErrorCode::not_found, format("the code has no function '%s'", std::string(name).c_str()));
}

}  // namespace ferry::device
