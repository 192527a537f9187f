#include "host/gate/run/current_limits.h"

#include <elf.h>

#include <cstring>
#include <span>

#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "module/module_file.h"

namespace ferry::gate {

namespace {

// Adds the sections that are loaded. Nothing of what the file says is trusted: it may come from a store that others
// write to.
template <class Header, class Section>
ModuleBytes loaded_bytes(std::span<const std::uint8_t> elf) {
  ModuleBytes bytes;
  Header header{};
  if (elf.size() < sizeof header) return bytes;
  std::memcpy(&header, elf.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t at = header.e_shoff + i * sizeof(Section);
    if (at > elf.size() || elf.size() - at < sizeof(Section)) break;
    Section section{};
    std::memcpy(&section, elf.data() + at, sizeof section);
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    ((section.sh_flags & SHF_EXECINSTR) != 0 ? bytes.code : bytes.data) += section.sh_size;
  }
  return bytes;
}

ModuleBytes bytes_of(const CodeImage& image) {
  const std::span<const std::uint8_t> bytes = image.bytes;
  const bool is_elf = bytes.size() > EI_CLASS && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
  const bool is_loaded = image.kind == ImageKind::elf || image.kind == ImageKind::elf_library;
  if (!is_loaded || !is_elf) return {bytes.size(), 0};
  return bytes[EI_CLASS] == ELFCLASS64 ? loaded_bytes<Elf64_Ehdr, Elf64_Shdr>(bytes)
                                       : loaded_bytes<Elf32_Ehdr, Elf32_Shdr>(bytes);
}

}  // namespace

ModuleBytes bytes_of(const CompiledModule& module) {
  ModuleBytes all;
  for (const CodeImage& image : value_or_throw(read_module(module.bytes())).images) {
    const ModuleBytes bytes = bytes_of(image);
    all.code += bytes.code;
    all.data += bytes.data;
  }
  return all;
}

std::string beyond_limits(const Limits& limits, const SideFacts& current, std::optional<double> share_of_peak) {
  std::vector<std::string> beyond;
  const std::uint64_t bytes = current.code_bytes + current.data_bytes;
  if (limits.bytes && bytes > *limits.bytes) {
    const bool looks_equal = bytes_text(*limits.bytes) == bytes_text(bytes);
    const auto text = [&](std::uint64_t count) {
      return looks_equal ? std::to_string(count) + " bytes" : bytes_text(count);
    };
    beyond.push_back("expected at most " + text(*limits.bytes) + " of code and data, got " + text(bytes));
  }
  if (limits.seconds && current.seconds > *limits.seconds) {
    beyond.push_back("expected at most " + seconds_text(*limits.seconds) + " a call, got " +
                     seconds_text(current.seconds));
  }
  if (limits.share_of_peak && share_of_peak && *share_of_peak < *limits.share_of_peak) {
    beyond.push_back("expected at least " + percent_text(*limits.share_of_peak) + " of the peak rate, got " +
                     percent_text(*share_of_peak));
  }
  return join("; ", beyond);
}

}  // namespace ferry::gate
