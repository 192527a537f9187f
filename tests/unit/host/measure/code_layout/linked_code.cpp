#include "tests/unit/host/measure/code_layout/linked_code.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>

#include "module/module_file.h"
#include "tests/unit/host/kernel/text_file.h"

namespace ferry::test {

namespace {

template <class Header, class Section, class Symbol>
Symbols read_symbols(const std::vector<std::uint8_t>& image) {
  const auto at = [&]<class Value>(Value& value, std::uint64_t offset) {
    REQUIRE(offset + sizeof value <= image.size());
    std::memcpy(&value, image.data() + offset, sizeof value);
  };
  Header header;
  at(header, 0);
  std::vector<Section> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) at(sections[i], header.e_shoff + i * sizeof(Section));
  Symbols symbols;
  for (const Section& table : sections) {
    if (table.sh_type != SHT_SYMTAB) continue;
    for (std::uint64_t i = 0; i < table.sh_size / sizeof(Symbol); ++i) {
      Symbol symbol;
      at(symbol, table.sh_offset + i * sizeof symbol);
      const int type = symbol.st_info & 15;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections.size()) continue;
      const std::string name =
          reinterpret_cast<const char*>(image.data()) + sections[table.sh_link].sh_offset + symbol.st_name;
      const bool is_writable = (sections[symbol.st_shndx].sh_flags & SHF_WRITE) != 0;
      if (type == STT_FUNC) symbols.functions[name] = symbol.st_value;
      if (type == STT_OBJECT) (is_writable ? symbols.variables : symbols.constants)[name] = symbol.st_value;
    }
  }
  return symbols;
}

}  // namespace

std::vector<std::uint8_t> image_of(const CompiledModule& module, ImageKind kind) {
  const Result<ModuleFile> file = read_module(module.bytes());
  REQUIRE(file.is_ok());
  REQUIRE(file.value().images.size() == 1);
  CHECK(file.value().images[0].kind == kind);
  return file.value().images[0].bytes;
}

Symbols symbols_of(const std::vector<std::uint8_t>& image) {
  return image.at(EI_CLASS) == ELFCLASS32 ? read_symbols<Elf32_Ehdr, Elf32_Shdr, Elf32_Sym>(image)
                                          : read_symbols<Elf64_Ehdr, Elf64_Shdr, Elf64_Sym>(image);
}

std::map<std::string, std::vector<std::string>> instructions_of(const std::vector<std::uint8_t>& image) {
  const Folder folder;
  const std::string command = "llvm-objdump-19 -d --no-show-raw-insn --no-leading-addr " +
                              folder.file("image", {image.begin(), image.end()}) + " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  REQUIRE(output != nullptr);
  std::map<std::string, std::vector<std::string>> functions;
  std::string function;
  char line[4096];
  while (fgets(line, sizeof line, output.get()) != nullptr) {
    const std::string text = line;
    std::string word;
    std::istringstream(text) >> word;
    if (text.starts_with("<"))
      function = text.substr(1, text.find('>') - 1);
    else if (!function.empty() && !word.empty())
      // Data among instructions stands behind its address.
      functions[function].push_back(word.ends_with(":") ? "data" : word);
  }
  return functions;
}

}  // namespace ferry::test
