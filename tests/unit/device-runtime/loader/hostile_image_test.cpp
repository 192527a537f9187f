// Tests of files that were damaged by accident or on purpose: loading may succeed or fail, but never accesses memory
// outside of the image. The sanitizer build makes these tests most effective.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <random>

#include "device-runtime/loader/elf_image.h"
#include "device-runtime/loader/elf_native.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"

namespace ferry::device {
namespace {

using Bytes = std::vector<std::uint8_t>;

const char* const kSource = R"(
  float expf(float);
  int counter = 40;
  int next(void) { return ++counter; }
  int (*const table[])(void) = {next, next};
  float f(float x) { return expf(x) + table[1](); }
)";

const Bytes& image() {
  static const Bytes file = test::compile_kernel(kSource);
  return file;
}

bool loads(const Bytes& file) {
  auto loaded = ElfImage::load(file);
  if (loaded.is_ok()) {
    // A lookup reads the tables once more.
    (void)loaded.value().function("next");
    (void)loaded.value().function("absent");
  }
  return loaded.is_ok();
}

template <class T>
T at(const Bytes& file, std::size_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

// Calls change(entry) for each program header in a copy of the image and stores the changed entry there.
template <class Change>
Bytes with_program_header(std::uint32_t type, Change change) {
  Bytes file = image();
  const auto header = at<elf::Ehdr>(file, 0);
  for (int i = 0; i < header.e_phnum; ++i) {
    const std::size_t offset = header.e_phoff + i * sizeof(elf::Phdr);
    auto program = at<elf::Phdr>(file, offset);
    if (program.p_type != type) continue;
    change(program);
    std::memcpy(file.data() + offset, &program, sizeof program);
  }
  return file;
}

template <class Change>
Bytes with_dynamic_entry(std::int64_t tag, Change change) {
  Bytes file = image();
  const auto header = at<elf::Ehdr>(file, 0);
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto program = at<elf::Phdr>(file, header.e_phoff + i * sizeof(elf::Phdr));
    if (program.p_type != PT_DYNAMIC) continue;
    for (std::size_t entry = 0; entry < program.p_filesz; entry += sizeof(elf::Dyn)) {
      auto dynamic = at<elf::Dyn>(file, program.p_offset + entry);
      if (dynamic.d_tag != tag) continue;
      change(dynamic);
      std::memcpy(file.data() + program.p_offset + entry, &dynamic, sizeof dynamic);
    }
  }
  return file;
}

TEST_CASE("the undamaged image loads") { CHECK(loads(image())); }

TEST_CASE("an image cut off anywhere inside its segments is refused") {
  const auto header = at<elf::Ehdr>(image(), 0);
  std::size_t needed = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto program = at<elf::Phdr>(image(), header.e_phoff + i * sizeof(elf::Phdr));
    if (program.p_type == PT_LOAD) needed = std::max<std::size_t>(needed, program.p_offset + program.p_filesz);
  }
  for (std::size_t length = 0; length < needed; ++length) {
    CAPTURE(length);
    CHECK_FALSE(loads(Bytes(image().begin(), image().begin() + static_cast<std::ptrdiff_t>(length))));
  }
}

TEST_CASE("any single damaged byte is survived") {
  for (std::size_t i = 0; i < image().size(); ++i) {
    for (const std::uint8_t mask : {0x01, 0x80, 0xff}) {
      Bytes file = image();
      file[i] ^= mask;
      (void)loads(file);
    }
  }
}

TEST_CASE("many damaged bytes at once are survived") {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    Bytes file = image();
    // Mostly change bytes in the tables; the rest is code, which loading does not read.
    const std::size_t range = round % 2 == 0 ? std::min<std::size_t>(file.size(), 1024) : file.size();
    for (int i = 0; i < 8; ++i) file[random() % range] = static_cast<std::uint8_t>(random());
    std::memcpy(file.data(), image().data(), 20);  // keep the identification bytes, otherwise loading stops there
    (void)loads(file);
  }
}

TEST_CASE("segments outside the file, too large or overlapping are refused") {
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_offset = ~elf::Word{0} - 15; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_filesz = p.p_memsz = ~elf::Word{0} / 2; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_memsz = p.p_filesz - 1; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_vaddr = 0; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_vaddr = ~elf::Word{0} - 4096; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_align = 3; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_align = elf::Word{1} << 30; })));
  CHECK_FALSE(loads(with_program_header(PT_LOAD, [](elf::Phdr& p) { p.p_flags |= PF_W | PF_X; })));
}

TEST_CASE("a read-only-after-relocation range outside the writable segments is refused") {
  CHECK_FALSE(loads(with_program_header(PT_GNU_RELRO, [](elf::Phdr& p) { p.p_vaddr = 0; })));
  CHECK_FALSE(loads(with_program_header(PT_GNU_RELRO, [](elf::Phdr& p) { p.p_memsz = ~elf::Word{0}; })));
}

TEST_CASE("tables that point outside the image are refused") {
  for (const std::int64_t tag : {std::int64_t{DT_HASH}, std::int64_t{DT_SYMTAB}, std::int64_t{DT_STRTAB},
                                 std::int64_t{DT_STRSZ}, std::int64_t{DT_JMPREL}, elf::kTableTag}) {
    for (const elf::Word value : {~elf::Word{0}, ~elf::Word{0} - 7, ~elf::Word{0} / 2, elf::Word{1} << 28}) {
      CAPTURE(tag);
      CAPTURE(value);
      CHECK_FALSE(loads(with_dynamic_entry(tag, [&](elf::Dyn& entry) { entry.d_un.d_val = value; })));
    }
  }
}

TEST_CASE("a relocation that would change code is refused") {
  const auto dynamic = with_dynamic_entry(-1, [](elf::Dyn&) {});
  Bytes file = dynamic;
  const auto header = at<elf::Ehdr>(file, 0);
  elf::Word table = 0;
  (void)with_dynamic_entry(elf::kTableTag, [&](elf::Dyn& entry) { table = entry.d_un.d_val; });
  REQUIRE(table != 0);
  // lld puts the relocation table in the first segment, where addresses equal file offsets.
  auto reloc = at<elf::Reloc>(file, table);
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto program = at<elf::Phdr>(file, header.e_phoff + i * sizeof(elf::Phdr));
    if (program.p_type == PT_LOAD && (program.p_flags & PF_X) != 0) reloc.r_offset = program.p_vaddr;
  }
  std::memcpy(file.data() + table, &reloc, sizeof reloc);
  auto loaded = ElfImage::load(file);
  REQUIRE_FALSE(loaded.is_ok());
  CHECK(loaded.status().message().find("changes what is not writable") != std::string::npos);
}

TEST_CASE("a relocation with a symbol number out of range is refused") {
  Bytes file = image();
  elf::Word table = 0;
  (void)with_dynamic_entry(DT_JMPREL, [&](elf::Dyn& entry) { table = entry.d_un.d_val; });
  REQUIRE(table != 0);
  auto reloc = at<elf::Reloc>(file, table);
  reloc.r_info |= ~elf::Word{0} << (elf::kIs64 ? 32 : 8);
  std::memcpy(file.data() + table, &reloc, sizeof reloc);
  auto loaded = ElfImage::load(file);
  REQUIRE_FALSE(loaded.is_ok());
  CHECK(loaded.status().message() == "malformed code image: a relocation names a symbol that does not exist");
}

}  // namespace
}  // namespace ferry::device
