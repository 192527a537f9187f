// The module of a .ferry file, ready to load. It consists of a fixed header, a table of sections, the sections, each at
// a multiple of 64 bytes, and the BLAKE2b-256 of everything before the hash. Reading verifies the hash and every offset
// before it uses any content.
#pragma once

#include "base/status.h"
#include "ferry/hash.h"
#include "module/image_kind.h"
#include "module/manifest.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry {

inline constexpr std::uint32_t kModuleFormatVersion = 4;
inline constexpr std::size_t kModuleHeaderBytes = 64;

struct CodeImage {
  ImageKind kind = ImageKind::unknown;
  std::vector<std::uint8_t> bytes;
  std::uint32_t device = 0;  // the manifest's device that it is for
  std::string arch = {};     // as take_image_kind() leaves it

  // Returns "elf", "cubin-sm_90" and so on.
  std::string name() const;
};

struct ModuleFile {
  Manifest manifest;
  std::vector<CodeImage> images;
  std::string source;                      // the kernel as the user wrote it
  std::string schedule;                    // directives, one per line; may be empty
  std::vector<std::uint8_t> descriptions;  // network steps (module/step_description.h); empty: none
};

// Returns the length of the module with which a file begins, as its header states it. Fails with invalid_argument if
// the bytes are not the beginning of a module. The contents of blobs may follow the module (module/blob_layout.h).
Result<std::uint64_t> module_length(std::span<const std::uint8_t> bytes);

// Deterministic: the same input gives the same bytes on every machine.
std::vector<std::uint8_t> write_module(const ModuleFile& module);
// invalid_argument gives the offset and what was expected there.
Result<ModuleFile> read_module(std::span<const std::uint8_t> bytes);
// The same for bytes that have been read before, without computing their hash again.
Result<ModuleFile> read_module_again(std::span<const std::uint8_t> bytes);

}  // namespace ferry
