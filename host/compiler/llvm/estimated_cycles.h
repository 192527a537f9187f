// The cost model's estimate for a scheduled program.
#pragma once

#include <cstdint>
#include <optional>

#include "ferry/target/target.h"
#include "host/compiler/api/compiler.h"

namespace ferry {

// As KernelCompiler::estimated_cycles().
std::optional<double> cycles_of(const Scheduled& scheduled, const Target& target, std::uint32_t threads);

}  // namespace ferry
