// The form of a module's code, and where code and data of a linked module begin.
#pragma once

#include <cstdint>

namespace ferry {

enum class CodeForm : std::uint8_t {
  linked,       // for devices
  relinkable,   // CPUs: objects, which link_module() links in any layout; GPUs: as linked
  relocatable,  // CPUs: one object for programs (crosscompile/export)
};

// By how many bytes code and data lie further than the linker places them by itself, as far as their own alignment
// allows. Where code and data lie affects times (docs/measuring.md).
struct CodeLayout {
  std::uint32_t code = 0;  // a multiple of kCodeStep; data follows unless it is moved too
  // A multiple of kDataStep: of constants, and modulo kLayoutPage of variables. If not zero, the code is moved modulo
  // kLayoutPage.
  std::uint32_t data = 0;
  bool operator==(const CodeLayout&) const = default;
};

inline constexpr std::uint32_t kCodeStep = 16;  // satisfies the alignment of functions on every architecture
inline constexpr std::uint32_t kDataStep = 64;  // a line of caches
inline constexpr std::uint32_t kLayoutPage = 4096;
inline constexpr std::uint32_t kMaxLayoutBytes = 65536;  // both numbers are below

}  // namespace ferry
