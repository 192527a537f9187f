#include "device-runtime/loader/relocate.h"

#include "base/format.h"
#include "device-runtime/loader/elf_image.h"
#include "device-runtime/loader/image_error.h"
#include "device-runtime/loader/imports.h"

namespace ferry::device {
namespace {

using elf::Word;

Result<Word> symbol_address(const ImageMemory& image, const DynamicTable& table, std::uint32_t index,
                            const ElfImage* library) {
  if (index == 0) return Word{0};
  if (index >= table.symbol_count) return malformed("a relocation names a symbol that does not exist");
  const elf::Sym symbol = read_symbol(image, table, index);
  const auto type = symbol.st_info & 0xf;
  const std::string_view view = symbol_name(image, table, symbol);
  const std::string name(view.substr(0, 200));
  if (type == STT_TLS) return refused(format("'%s' is a thread-local variable", name.c_str()));
  if (type == STT_GNU_IFUNC) return refused(format("'%s' is an indirect function", name.c_str()));
  if (symbol.st_shndx != SHN_UNDEF) {
    if (symbol.st_value > image.span()) return malformed(format("'%s' lies outside the image", name.c_str()));
    return reinterpret_cast<Word>(image.at(symbol.st_value));
  }
  if (name.empty()) return malformed("an import has no name");
  if (void* address = find_import(view)) return reinterpret_cast<Word>(address);
  if (library != nullptr) {
    if (const auto address = library->function(view); address.is_ok()) return reinterpret_cast<Word>(address.value());
  }
  if (symbol.st_info >> 4 == STB_WEAK) return Word{0};
  return refused(format("it imports '%s', which kernels may not", name.c_str()));
}

Status apply(ImageMemory& image, const DynamicTable& table, const elf::Reloc& reloc, const ElfImage* library) {
  const std::uint32_t type = elf::reloc_type(reloc);
  if (type == elf::kNone) return {};
  const std::uint64_t place = reloc.r_offset;
  if (type == elf::kIrelative) return refused("it has indirect functions (IRELATIVE)");
  if (!image.writable(place, sizeof(Word))) {
    return refused(format("a relocation of type %u changes what is not writable, at 0x%llx", type,
                          static_cast<unsigned long long>(place)));
  }
  // Without addends in the table, the place itself holds the addend, except for PLT slots, which hold another value.
  const Word in_place = elf::kHasAddend ? 0 : image.read<Word>(place);
  const Word addend = static_cast<Word>(elf::addend(reloc));
  if (type == elf::kRelative) {
    image.write<Word>(place, reinterpret_cast<Word>(image.at(0)) + addend + in_place);
    return {};
  }
  const bool absolute = type == elf::kAbsolute;
  if (!absolute && type != elf::kGlobDat && type != elf::kJumpSlot) {
    return refused(format("it has a relocation of type %u", type));
  }
  FERRY_ASSIGN(const Word symbol, symbol_address(image, table, elf::reloc_symbol(reloc), library));
  image.write<Word>(place, symbol + addend + (absolute ? in_place : 0));
  return {};
}

}  // namespace

Status relocate(ImageMemory& image, const DynamicTable& table, const ElfImage* library) {
  for (const RelocationTable& part : {table.relocations, table.plt_relocations}) {
    for (std::uint64_t i = 0; i < part.count; ++i) {
      FERRY_TRY(apply(image, table, image.read<elf::Reloc>(part.address + i * sizeof(elf::Reloc)), library));
    }
  }
  return {};
}

}  // namespace ferry::device
