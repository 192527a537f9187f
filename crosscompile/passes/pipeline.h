// The table of passes that turns what lowering made into what code generation takes.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <functional>
#include <span>
#include <string_view>

namespace ferry::passes {

struct Pass {
    std::string_view name;
    ir::Function (*run)(ir::Function, const Target&);
};

// In order. Each pass's header says why it stands where it does.
std::span<const Pass> pipeline();

// Runs all of them; `after`, if given, sees the function after each pass. Debug builds validate after each.
ir::Function run_pipeline(ir::Function function, const Target& target,
                          const std::function<void(std::string_view pass, const ir::Function&)>& after = {});

} // namespace ferry::passes
