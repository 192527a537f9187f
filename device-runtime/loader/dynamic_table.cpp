#include "device-runtime/loader/dynamic_table.h"

#include "base/format.h"
#include "device-runtime/loader/image_error.h"

#include <algorithm>
#include <limits>

namespace ferry::device {
namespace {

// The unchecked values of the dynamic section.
struct RawEntries {
  std::uint64_t hash = 0, symbols = 0, symbol_bytes = 0, strings = 0, string_bytes = 0;
  std::uint64_t table = 0, table_bytes = 0, table_entry = 0;
  std::uint64_t plt = 0, plt_bytes = 0, plt_kind = 0;
};

Status take_entry(RawEntries& raw, std::int64_t tag, std::uint64_t value) {
  switch (tag) {
    case DT_HASH: raw.hash = value; break;
    case DT_SYMTAB: raw.symbols = value; break;
    case DT_SYMENT: raw.symbol_bytes = value; break;
    case DT_STRTAB: raw.strings = value; break;
    case DT_STRSZ: raw.string_bytes = value; break;
    case elf::kTableTag: raw.table = value; break;
    case elf::kTableSizeTag: raw.table_bytes = value; break;
    case elf::kTableEntryTag: raw.table_entry = value; break;
    case DT_JMPREL: raw.plt = value; break;
    case DT_PLTRELSZ: raw.plt_bytes = value; break;
    case DT_PLTREL: raw.plt_kind = value; break;
    case elf::kForeignTableTag: return refused("its relocations have the format of another architecture");
    case DT_RELR: return refused("it has packed relocations (DT_RELR)");
    case DT_TEXTREL: return refused("it has text relocations (DT_TEXTREL): compile with -fPIC");
    case DT_FLAGS:
      if ((value & DF_TEXTREL) != 0) return refused("it has text relocations (DF_TEXTREL): compile with -fPIC");
      if ((value & DF_STATIC_TLS) != 0) return refused("it has thread-local variables (DF_STATIC_TLS)");
      break;
    case DT_INIT: return refused("it has an initialiser (DT_INIT)");
    case DT_FINI: return refused("it has a finaliser (DT_FINI)");
    case DT_INIT_ARRAYSZ:
      if (value != 0) return refused("it has constructors (DT_INIT_ARRAY)");
      break;
    case DT_FINI_ARRAYSZ:
      if (value != 0) return refused("it has destructors (DT_FINI_ARRAY)");
      break;
    case DT_PREINIT_ARRAYSZ:
      if (value != 0) return refused("it has constructors (DT_PREINIT_ARRAY)");
      break;
    default: break;
  }
  return {};
}

Result<RelocationTable> checked_relocations(const ImageMemory& image, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return RelocationTable{};
  if (bytes % sizeof(elf::Reloc) != 0) return malformed("a relocation table ends inside an entry");
  if (!image.readable(address, bytes)) return malformed("a relocation table lies outside the image");
  return RelocationTable{address, bytes / sizeof(elf::Reloc)};
}

Status take_symbols(DynamicTable& table, const ImageMemory& image, const RawEntries& raw) {
  if (raw.hash == 0) return refused("it has no DT_HASH table: link with --hash-style=both");
  if (!image.readable(raw.hash, 8)) return malformed("the hash table lies outside the image");
  const auto buckets = image.read<std::uint32_t>(raw.hash);
  table.symbol_count = image.read<std::uint32_t>(raw.hash + 4);
  const std::uint64_t hash_bytes = 8 + 4 * (std::uint64_t{buckets} + table.symbol_count);
  if (!image.readable(raw.hash, hash_bytes)) return malformed("the hash table ends outside the image");
  if (raw.symbol_bytes != sizeof(elf::Sym)) return malformed("symbols have an unknown size");
  if (!image.readable(raw.symbols, std::uint64_t{table.symbol_count} * sizeof(elf::Sym))) {
    return malformed("the symbol table lies outside the image");
  }
  if (raw.string_bytes == 0 || !image.readable(raw.strings, raw.string_bytes)) {
    return malformed("the string table lies outside the image");
  }
  table.symbols = raw.symbols;
  table.strings = raw.strings;
  table.string_bytes = raw.string_bytes;
  return {};
}

}  // namespace

Result<DynamicTable> read_dynamic_table(const ImageMemory& image, const ElfRange& dynamic) {
  RawEntries raw;
  bool ended = false;
  for (std::uint64_t at = 0; dynamic.bytes - at >= sizeof(elf::Dyn); at += sizeof(elf::Dyn)) {
    const auto entry = image.read<elf::Dyn>(dynamic.address + at);
    ended = entry.d_tag == DT_NULL;
    if (ended) break;
    FERRY_TRY(take_entry(raw, entry.d_tag, entry.d_un.d_val));
  }
  if (!ended) return malformed("the dynamic section has no end");
  if (raw.table_bytes != 0 && raw.table_entry != sizeof(elf::Reloc)) {
    return malformed("relocations have an unknown size");
  }
  if (raw.plt_bytes != 0 && raw.plt_kind != static_cast<std::uint64_t>(elf::kTableTag)) {
    return refused("its relocations have the format of another architecture");
  }
  DynamicTable table;
  FERRY_TRY(take_symbols(table, image, raw));
  FERRY_ASSIGN(table.relocations, checked_relocations(image, raw.table, raw.table_bytes));
  FERRY_ASSIGN(table.plt_relocations, checked_relocations(image, raw.plt, raw.plt_bytes));
  return table;
}

elf::Sym read_symbol(const ImageMemory& image, const DynamicTable& table, std::uint32_t index) {
  return image.read<elf::Sym>(table.symbols + std::uint64_t{index} * sizeof(elf::Sym));
}

std::string_view symbol_name(const ImageMemory& image, const DynamicTable& table, const elf::Sym& symbol) {
  if (symbol.st_name >= table.string_bytes) return {};
  const auto* text = reinterpret_cast<const char*>(image.at(table.strings + symbol.st_name));
  const std::uint64_t limit = std::min<std::uint64_t>(table.string_bytes - symbol.st_name, elf::kMaxSymbolBytes);
  const std::size_t length = strnlen(text, limit);
  return length == limit ? std::string_view() : std::string_view(text, length);
}

}  // namespace ferry::device
