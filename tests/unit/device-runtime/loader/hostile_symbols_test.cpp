// Tests of symbol tables that would take far longer to search than the length of their file suggests.
#include <doctest/doctest.h>
#include <elf.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "device-runtime/loader/debug_image.h"
#include "device-runtime/loader/elf_native.h"

namespace ferry::device {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Section = ElfW(Shdr);
using Clock = std::chrono::steady_clock;

template <class T>
void put(Bytes& file, std::size_t at, const T& value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

// About as many sections as a file can have, all of this type and all referring to the same table with as many entries
// as it holds, over one text of letters without a terminator.
Bytes overlapping(std::uint32_t type, std::size_t table_bytes) {
  constexpr std::uint16_t kSections = 60'000;
  const std::size_t sections_at = sizeof(elf::Ehdr), table_at = sections_at + kSections * sizeof(Section);
  Bytes file(table_at + table_bytes, 'x');
  elf::Ehdr header{};
  header.e_shoff = static_cast<decltype(header.e_shoff)>(sections_at);
  header.e_shentsize = sizeof(Section);
  header.e_shnum = kSections;
  put(file, 0, header);
  for (std::size_t i = 0; i < kSections; ++i) {
    Section section{};
    section.sh_type = i == 1 ? std::uint32_t{SHT_PROGBITS} : type;
    section.sh_flags = i == 1 ? SHF_ALLOC : 0;
    section.sh_offset = static_cast<decltype(section.sh_offset)>(table_at);
    section.sh_size = static_cast<decltype(section.sh_size)>(table_bytes);
    section.sh_link = 1;
    put(file, sections_at + i * sizeof(Section), section);
  }
  elf::Sym symbol{};
  symbol.st_info = STT_FUNC;
  symbol.st_shndx = 1;
  symbol.st_name = 3;
  for (std::size_t at = table_at; at + sizeof symbol <= file.size() && type == SHT_DYNSYM; at += sizeof symbol) {
    put(file, at, symbol);
  }
  return file;
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

TEST_CASE("sections that overlap cost no more than those that do not") {
  for (const std::uint32_t type : {std::uint32_t{SHT_DYNSYM}, std::uint32_t{elf::kHasAddend ? SHT_RELA : SHT_REL}}) {
    CAPTURE(type);
    const Bytes file = overlapping(type, std::size_t{2} << 20);
    const auto begin = Clock::now();
    const Bytes image = make_debug_image(file, 0x10000);
    std::size_t functions = 0;
    for_each_function(image, [&](const char*, std::uintptr_t, std::uint64_t) { ++functions; });
    CHECK(image.size() == file.size());
    CHECK(functions <= file.size() / sizeof(elf::Sym));
    CHECK(seconds_since(begin) < 2);  // all sections together have five billion entries
  }
}

}  // namespace
}  // namespace ferry::device
