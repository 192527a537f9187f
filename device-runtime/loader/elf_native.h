// The properties of the architecture that the loader is built for: file class, machine number, and the relocation types
// that the linker writes into a position-independent shared object. The numbers come from <elf.h> and the psABI
// documents.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace ferry::device::elf {

using Ehdr = ElfW(Ehdr);
using Phdr = ElfW(Phdr);
using Dyn = ElfW(Dyn);
using Sym = ElfW(Sym);
using Word = std::uintptr_t;  // pointer-sized, like every relocated place

#if defined(__x86_64__)
using Reloc = Elf64_Rela;
inline constexpr std::uint16_t kMachine = EM_X86_64;
inline constexpr const char* kArchName = "x86_64";
inline constexpr std::uint32_t kNone = R_X86_64_NONE, kRelative = R_X86_64_RELATIVE, kAbsolute = R_X86_64_64,
                               kGlobDat = R_X86_64_GLOB_DAT, kJumpSlot = R_X86_64_JUMP_SLOT,
                               kIrelative = R_X86_64_IRELATIVE;
#elif defined(__aarch64__)
using Reloc = Elf64_Rela;
inline constexpr std::uint16_t kMachine = EM_AARCH64;
inline constexpr const char* kArchName = "aarch64";
inline constexpr std::uint32_t kNone = R_AARCH64_NONE, kRelative = R_AARCH64_RELATIVE, kAbsolute = R_AARCH64_ABS64,
                               kGlobDat = R_AARCH64_GLOB_DAT, kJumpSlot = R_AARCH64_JUMP_SLOT,
                               kIrelative = R_AARCH64_IRELATIVE;
#elif defined(__riscv) && __riscv_xlen == 64
using Reloc = Elf64_Rela;
inline constexpr std::uint16_t kMachine = EM_RISCV;
inline constexpr const char* kArchName = "riscv64";
// RISC-V fills the global offset table with R_RISCV_64, so GLOB_DAT has no number of its own.
inline constexpr std::uint32_t kNone = R_RISCV_NONE, kRelative = R_RISCV_RELATIVE, kAbsolute = R_RISCV_64,
                               kGlobDat = R_RISCV_64, kJumpSlot = R_RISCV_JUMP_SLOT, kIrelative = R_RISCV_IRELATIVE;
#elif defined(__arm__)
using Reloc = Elf32_Rel;
inline constexpr std::uint16_t kMachine = EM_ARM;
inline constexpr const char* kArchName = "armv7";
inline constexpr std::uint32_t kNone = R_ARM_NONE, kRelative = R_ARM_RELATIVE, kAbsolute = R_ARM_ABS32,
                               kGlobDat = R_ARM_GLOB_DAT, kJumpSlot = R_ARM_JUMP_SLOT, kIrelative = R_ARM_IRELATIVE;
#else
#error "expected x86_64, armv7, aarch64 or riscv64"
#endif

inline constexpr bool kIs64 = sizeof(Word) == 8;
inline constexpr unsigned char kClass = kIs64 ? ELFCLASS64 : ELFCLASS32;

// 32-bit ARM stores addends in the relocated places, the other architectures in the relocation entries.
#if defined(__arm__)
inline constexpr bool kHasAddend = false;
inline constexpr std::int64_t kTableTag = DT_REL, kTableSizeTag = DT_RELSZ, kTableEntryTag = DT_RELENT,
                              kForeignTableTag = DT_RELA;
inline std::int64_t addend(const Reloc&) { return 0; }
#else
inline constexpr bool kHasAddend = true;
inline constexpr std::int64_t kTableTag = DT_RELA, kTableSizeTag = DT_RELASZ, kTableEntryTag = DT_RELAENT,
                              kForeignTableTag = DT_REL;
inline std::int64_t addend(const Reloc& reloc) { return reloc.r_addend; }
#endif

inline std::uint32_t reloc_type(const Reloc& reloc) {
  return static_cast<std::uint32_t>(kIs64 ? ELF64_R_TYPE(reloc.r_info) : ELF32_R_TYPE(reloc.r_info));
}
inline std::uint32_t reloc_symbol(const Reloc& reloc) {
  return static_cast<std::uint32_t>(kIs64 ? ELF64_R_SYM(static_cast<std::uint64_t>(reloc.r_info))
                                          : ELF32_R_SYM(reloc.r_info));
}

// Upper bound of the length of symbol names, which bounds the cost of reading one.
inline constexpr std::size_t kMaxSymbolBytes = 4096;

}  // namespace ferry::device::elf
