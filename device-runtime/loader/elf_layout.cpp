#include "device-runtime/loader/elf_layout.h"

#include "base/format.h"
#include "device-runtime/loader/elf_native.h"
#include "device-runtime/loader/image_error.h"

#include <algorithm>
#include <cstring>

namespace ferry::device {
namespace {

constexpr std::uint16_t kMaxProgramHeaders = 64;
constexpr std::uint64_t kMaxAlignment = std::uint64_t{2} << 20;

bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t limit) {
  return offset <= limit && bytes <= limit - offset;
}
bool contains(const ElfSegment& segment, std::uint64_t address, std::uint64_t bytes) {
  return address >= segment.address && fits(address - segment.address, bytes, segment.memory_bytes);
}

// The identification bytes have the same meaning in both classes, so the architecture of a foreign image is reported
// before its header is interpreted in our class.
Status check_identity(std::span<const std::uint8_t> file) {
  if (file.size() < EI_NIDENT + 4 || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    return malformed("expected an ELF file");
  }
  if (file[EI_DATA] != ELFDATA2LSB) return refused("expected little-endian code, got big-endian");
  std::uint16_t type = 0, machine = 0;
  std::memcpy(&type, file.data() + EI_NIDENT, 2);
  std::memcpy(&machine, file.data() + EI_NIDENT + 2, 2);
  if (machine != elf::kMachine || file[EI_CLASS] != elf::kClass) {
    return refused(
        format("expected %s code, got %s", elf::kArchName, elf_machine_name(machine, file[EI_CLASS]).c_str()));
  }
  if (type != ET_DYN) return refused(format("expected a shared object (type %d), got type %d", ET_DYN, int{type}));
  return {};
}

Status add_segment(ElfLayout& layout, const elf::Phdr& header, std::uint64_t file_bytes, std::uint64_t page) {
  const ElfSegment segment{header.p_vaddr,
                           header.p_memsz,
                           header.p_offset,
                           header.p_filesz,
                           (header.p_flags & PF_W) != 0,
                           (header.p_flags & PF_X) != 0};
  if (segment.memory_bytes == 0) return {};
  if (!fits(segment.file_offset, segment.file_bytes, file_bytes)) return malformed("a segment lies outside the file");
  if (segment.file_bytes > segment.memory_bytes)
    return malformed("a segment has more bytes in the file than in memory");
  if (!fits(segment.address, segment.memory_bytes, kMaxImageBytes)) {
    return malformed(format("a segment ends beyond the limit of %llu bytes an image",
                            static_cast<unsigned long long>(kMaxImageBytes)));
  }
  if (segment.writable && segment.executable) return refused("a segment is both writable and executable");
  if (header.p_align > kMaxAlignment || (header.p_align & (header.p_align - 1)) != 0) {
    return malformed("a segment's alignment is not a power of two up to 2 MiB");
  }
  if (!layout.segments.empty() && segment.address / page * page < layout.span) {
    return refused("segments are out of order or share a page");
  }
  layout.alignment = std::max<std::uint64_t>(layout.alignment, header.p_align);
  layout.span = (segment.address + segment.memory_bytes + page - 1) / page * page;
  layout.segments.push_back(segment);
  return {};
}

Status check_ranges(const ElfLayout& layout) {
  if (layout.segments.empty()) return malformed("nothing to load");
  if (layout.dynamic.bytes == 0) return malformed("no dynamic section");
  const auto holds = [](const ElfRange& range) {
    return [&range](const ElfSegment& segment) { return contains(segment, range.address, range.bytes); };
  };
  if (std::none_of(layout.segments.begin(), layout.segments.end(), holds(layout.dynamic))) {
    return malformed("the dynamic section lies outside the segments");
  }
  if (layout.relro.bytes != 0) {
    const auto home = std::find_if(layout.segments.begin(), layout.segments.end(), holds(layout.relro));
    if (home == layout.segments.end() || !home->writable) {
      return malformed("the read-only-after-relocation range lies outside the writable segments");
    }
  }
  return {};
}

// GNU_RELRO may extend to the end of its last page; only the part backed by the segment counts.
void clip_relro(ElfLayout& layout, std::uint64_t page) {
  for (const ElfSegment& segment : layout.segments) {
    const std::uint64_t end = segment.address + segment.memory_bytes;
    if (layout.relro.address < segment.address || layout.relro.address >= end) continue;
    const std::uint64_t padded = (end + page - 1) / page * page;
    if (layout.relro.bytes <= padded - layout.relro.address) {
      layout.relro.bytes = std::min(layout.relro.bytes, end - layout.relro.address);
    }
  }
}

}  // namespace

std::string elf_machine_name(std::uint16_t machine, std::uint8_t elf_class) {
  if (machine == EM_X86_64 && elf_class == ELFCLASS64) return "x86_64";
  if (machine == EM_386) return "i386";
  if (machine == EM_AARCH64 && elf_class == ELFCLASS64) return "aarch64";
  if (machine == EM_ARM) return "armv7";
  if (machine == EM_RISCV) return elf_class == ELFCLASS64 ? "riscv64" : "riscv32";
  return format("machine %d of class %d", int{machine}, int{elf_class});
}

Result<ElfLayout> read_elf_layout(std::span<const std::uint8_t> file, std::uint64_t page_bytes) {
  FERRY_TRY(check_identity(file));
  elf::Ehdr header;
  if (file.size() < sizeof header) return malformed("the file ends inside its header");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.e_phentsize != sizeof(elf::Phdr)) return malformed("program headers have an unknown size");
  if (header.e_phnum == 0 || header.e_phnum > kMaxProgramHeaders) {
    return malformed(format("expected 1 to %d program headers, got %d", int{kMaxProgramHeaders}, int{header.e_phnum}));
  }
  if (!fits(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(elf::Phdr), file.size())) {
    return malformed("the program headers lie outside the file");
  }
  ElfLayout layout;
  layout.alignment = page_bytes;
  for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
    elf::Phdr program;
    std::memcpy(&program, file.data() + header.e_phoff + i * sizeof program, sizeof program);
    switch (program.p_type) {
      case PT_LOAD: FERRY_TRY(add_segment(layout, program, file.size(), page_bytes)); break;
      case PT_DYNAMIC: layout.dynamic = {program.p_vaddr, program.p_memsz}; break;
      case PT_GNU_RELRO: layout.relro = {program.p_vaddr, program.p_memsz}; break;
      case PT_TLS: return refused("it has thread-local variables (PT_TLS)");
      case PT_INTERP: return refused("it is a program, not a shared object (PT_INTERP)");
      default: break;  // notes, unwind tables, stack flags: not needed for loading
    }
  }
  clip_relro(layout, page_bytes);
  FERRY_TRY(check_ranges(layout));
  return layout;
}

}  // namespace ferry::device
