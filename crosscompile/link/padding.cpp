#include "crosscompile/link/padding.h"

#include "crosscompile/ir/error.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace ferry::link {
namespace {

namespace elf = llvm::ELF;

void expect_step(const char* what, std::uint32_t bytes, std::uint32_t step) {
  if (bytes % step == 0 && bytes < kMaxLayoutBytes) return;
  throw CompileError(std::string("expected an offset of ") + what + " that is a multiple of " + std::to_string(step) +
                     " below " + std::to_string(kMaxLayoutBytes) + ", got " + std::to_string(bytes));
}

struct Paddings {
  std::uint32_t code = 0, constants = 0, variables = 0;
};

struct DataSections {
  bool constants = false, variables = false;
};

// Leaves files that cannot be read to the linker, which reports them.
void add_sections(std::span<const std::uint8_t> object, DataSections& found) {
  const llvm::StringRef text(reinterpret_cast<const char*>(object.data()), object.size());
  auto opened = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(text, "object"));
  if (!opened) return llvm::consumeError(opened.takeError());
  for (const llvm::object::ELFSectionRef section : llvm::cast<llvm::object::ELFObjectFileBase>(**opened).sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if ((section.getFlags() & elf::SHF_ALLOC) == 0 || section.getSize() == 0) continue;
    if (name->starts_with(".rodata")) found.constants = true;
    if (name->starts_with(".data") || name->starts_with(".bss")) found.variables = true;
  }
}

std::uint32_t in_page(std::uint32_t to, std::uint32_t from) { return (to - from) % kLayoutPage; }

// In the linked file constants stand before the code and variables behind it, and addresses follow the places in the
// file: what moves a section moves those behind it as well.
Paddings paddings_for(const CodeLayout& layout, const DataSections& sections) {
  if (layout.data == 0 || (!sections.constants && !sections.variables)) return {.code = layout.code};
  Paddings paddings;
  paddings.constants = sections.constants ? layout.data : 0;
  paddings.code =
      layout.code >= paddings.constants ? layout.code - paddings.constants : in_page(layout.code, paddings.constants);
  if (sections.variables) paddings.variables = in_page(layout.data, paddings.constants + paddings.code);
  return paddings;
}

struct Elf32 {
  using Header = elf::Elf32_Ehdr;
  using Section = elf::Elf32_Shdr;
};
struct Elf64 {
  using Header = elf::Elf64_Ehdr;
  using Section = elf::Elf64_Shdr;
};

struct PaddingSection {
  std::string name;
  std::uint64_t flags = 0;
  std::uint32_t bytes = 0;
};

template <class Elf>
std::vector<std::uint8_t> object_with(const std::vector<PaddingSection>& paddings, std::span<const std::uint8_t> like) {
  typename Elf::Header header;
  std::memcpy(&header, like.data(), sizeof header);
  std::string names(1, '\0');
  std::vector<typename Elf::Section> sections(1);
  std::size_t end = sizeof header;
  const auto add = [&](const std::string& name, std::uint32_t type, std::uint64_t flags, std::size_t bytes) {
    typename Elf::Section section{};
    section.sh_name = static_cast<std::uint32_t>(names.size());
    section.sh_type = type;
    section.sh_flags = static_cast<decltype(section.sh_flags)>(flags);
    section.sh_offset = static_cast<decltype(section.sh_offset)>(end);
    section.sh_size = static_cast<decltype(section.sh_size)>(bytes);
    section.sh_addralign = 1;
    names += name + '\0';
    sections.push_back(section);
    end += bytes;
  };
  // --gc-sections keeps retained sections.
  for (const PaddingSection& padding : paddings)
    add(padding.name, elf::SHT_PROGBITS, padding.flags | elf::SHF_ALLOC | elf::SHF_GNU_RETAIN, padding.bytes);
  const std::string kNames = ".shstrtab";
  add(kNames, elf::SHT_STRTAB, 0, names.size() + kNames.size() + 1);
  const std::size_t table = (end + 7) / 8 * 8;

  header.e_type = elf::ET_REL;
  header.e_entry = header.e_phoff = 0;
  header.e_phentsize = header.e_phnum = 0;
  header.e_ehsize = sizeof header;
  header.e_shoff = static_cast<decltype(header.e_shoff)>(table);
  header.e_shentsize = sizeof sections[0];
  header.e_shnum = static_cast<std::uint16_t>(sections.size());
  header.e_shstrndx = static_cast<std::uint16_t>(sections.size() - 1);
  std::vector<std::uint8_t> object(table + sections.size() * sizeof sections[0]);
  std::memcpy(object.data(), &header, sizeof header);
  std::memcpy(object.data() + sections.back().sh_offset, names.data(), names.size());
  std::memcpy(object.data() + table, sections.data(), sections.size() * sizeof sections[0]);
  return object;
}

}  // namespace

void check_layout(const CodeLayout& layout) {
  expect_step("code", layout.code, kCodeStep);
  expect_step("data", layout.data, kDataStep);
}

std::optional<std::vector<std::uint8_t>> padding_object(const CodeLayout& layout,
                                                        const std::vector<std::span<const std::uint8_t>>& objects) {
  check_layout(layout);
  if (layout == CodeLayout() || objects.empty()) return std::nullopt;
  const std::span<const std::uint8_t> first = objects.front();
  if (first.size() < sizeof(elf::Elf64_Ehdr) || std::memcmp(first.data(), elf::ElfMagic, 4) != 0) return std::nullopt;
  DataSections found;
  for (const std::span<const std::uint8_t> object : objects) add_sections(object, found);
  const Paddings paddings = paddings_for(layout, found);
  std::vector<PaddingSection> sections{{".text.ferry_padding", elf::SHF_EXECINSTR, paddings.code},
                                       {".rodata.ferry_padding", 0, paddings.constants},
                                       {".data.ferry_padding", elf::SHF_WRITE, paddings.variables}};
  std::erase_if(sections, [](const PaddingSection& section) { return section.bytes == 0; });
  if (sections.empty()) return std::nullopt;
  return first[elf::EI_CLASS] == elf::ELFCLASS32 ? object_with<Elf32>(sections, first)
                                                 : object_with<Elf64>(sections, first);
}

}  // namespace ferry::link
