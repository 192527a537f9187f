#include "device-runtime/loader/debug_image.h"

#include <algorithm>
#include <cstring>

#include "device-runtime/loader/elf_native.h"

namespace ferry::device {
namespace {

using Section = ElfW(Shdr);

// The file's tables; every entry is checked to lie inside the file before it is accessed. Entries may be unaligned.
// Tables that do not overlap cannot have more bytes in total than the file, so at most that many bytes of entries are
// visited. Otherwise thousands of sections that all refer to one large table could keep a session busy for a time
// proportional to their number.
class Image {
 public:
  explicit Image(std::span<std::uint8_t> bytes) : bytes_(bytes), unvisited_(bytes.size()) {
    if (!read(0, header_) || header_.e_shentsize != sizeof(Section)) header_.e_shnum = 0;
  }

  template <class T>
  bool read(std::uint64_t at, T& value) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return true;
  }
  template <class T>
  void write(std::uint64_t at, const T& value) {
    if (at <= bytes_.size() && bytes_.size() - at >= sizeof value)
      std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  unsigned section_count() const { return header_.e_shnum; }
  std::uint64_t section_place(unsigned index) const {
    return std::uint64_t{header_.e_shoff} + std::uint64_t{index} * sizeof(Section);
  }
  // Returns a section of type 0 if there is none with this index.
  Section section(unsigned index) const {
    Section section{};
    if (index >= section_count() || !read(section_place(index), section)) section = {};
    return section;
  }
  // Calls visit(entry, place) for each entry of the section.
  template <class T, class Visit>
  void for_each(const Section& section, Visit visit) {
    T entry{};
    for (std::uint64_t at = 0; at + sizeof entry <= section.sh_size && unvisited_ >= sizeof entry; at += sizeof entry) {
      if (!read(section.sh_offset + at, entry)) return;
      unvisited_ -= sizeof entry;
      visit(entry, section.sh_offset + at);
    }
  }
  bool is_loaded(unsigned index) const {
    return index != SHN_UNDEF && index < SHN_LORESERVE && (section(index).sh_flags & SHF_ALLOC) != 0;
  }
  // Returns an empty string if the text does not end inside the file or is longer than any valid name.
  const char* text(const Section& strings, std::uint64_t at) const {
    const std::uint64_t begin = strings.sh_offset + at;
    if (begin >= bytes_.size()) return "";
    const std::size_t most = std::min<std::size_t>(bytes_.size() - begin, elf::kMaxSymbolBytes);
    if (std::memchr(bytes_.data() + begin, 0, most) == nullptr) return "";
    return reinterpret_cast<const char*>(bytes_.data() + begin);
  }

 private:
  std::span<std::uint8_t> bytes_;
  std::uint64_t unvisited_;
  elf::Ehdr header_{};
};

bool has_symbols(const Section& section) { return section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM; }

// Relocates the places in debug information that hold the address of loaded code or data.
void move_relocated(Image& image, const Section& relocations, std::uintptr_t base) {
  const Section target = image.section(relocations.sh_info), symbols = image.section(relocations.sh_link);
  if (target.sh_type != SHT_PROGBITS || (target.sh_flags & SHF_ALLOC) != 0) return;
  image.for_each<elf::Reloc>(relocations, [&](const elf::Reloc& reloc, std::uint64_t) {
    elf::Sym symbol{};
    elf::Word value = 0;
    const std::uint64_t at = target.sh_offset + reloc.r_offset;
    if (elf::reloc_type(reloc) != elf::kAbsolute || reloc.r_offset >= target.sh_size ||
        !image.read(symbols.sh_offset + std::uint64_t{elf::reloc_symbol(reloc)} * sizeof symbol, symbol) ||
        !image.is_loaded(symbol.st_shndx) || !image.read(at, value)) {
      return;
    }
    image.write(at, static_cast<elf::Word>(value + base));
  });
}

}  // namespace

std::vector<std::uint8_t> make_debug_image(std::span<const std::uint8_t> file, std::uintptr_t base) {
  std::vector<std::uint8_t> bytes(file.begin(), file.end());
  Image image(bytes);
  for (unsigned i = 0; i < image.section_count(); ++i) {
    const Section section = image.section(i);
    if (section.sh_type == (elf::kHasAddend ? SHT_RELA : SHT_REL)) move_relocated(image, section, base);
  }
  for (unsigned i = 0; i < image.section_count(); ++i) {
    const Section section = image.section(i);
    if (!has_symbols(section)) continue;
    image.for_each<elf::Sym>(section, [&](elf::Sym symbol, std::uint64_t at) {
      if (!image.is_loaded(symbol.st_shndx)) return;
      symbol.st_value += base;
      image.write(at, symbol);
    });
  }
  for (unsigned i = 0; i < image.section_count(); ++i) {
    Section section = image.section(i);
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    section.sh_addr += base;
    image.write(image.section_place(i), section);
  }
  return bytes;
}

void for_each_function(std::span<const std::uint8_t> bytes, const FunctionVisitor& visit) {
  // The image is only read, so the const_cast is safe.
  Image image({const_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  for (unsigned i = 0; i < image.section_count(); ++i) {
    const Section section = image.section(i);
    if (section.sh_type != SHT_DYNSYM) continue;
    const Section strings = image.section(section.sh_link);
    image.for_each<elf::Sym>(section, [&](const elf::Sym& symbol, std::uint64_t) {
      if ((symbol.st_info & 0xf) == STT_FUNC && image.is_loaded(symbol.st_shndx)) {
        visit(image.text(strings, symbol.st_name), static_cast<std::uintptr_t>(symbol.st_value), symbol.st_size);
      }
    });
  }
}

}  // namespace ferry::device
