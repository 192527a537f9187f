// The table of architectures, one row each.
#pragma once

#include "ferry/target/arch.h"

#include <string_view>

namespace ferry {

struct ArchInfo {
  Arch arch;
  std::string_view name;
  // LLVM's name of the CPU that is assumed where none is given.
  const char* baseline_cpu = "generic";
};

const ArchInfo& info_of(Arch arch);
}  // namespace ferry
