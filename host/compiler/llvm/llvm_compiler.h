// The compiler of this program, made of crosscompile/, host/lower and host/autoschedule.
#pragma once

#include <memory>

#include "host/compiler/api/compiler.h"
#include "host/compiler/llvm/module_cache.h"

namespace ferry {

// Modules of networks are kept in the cache.
std::unique_ptr<const Compiler> make_compiler(ModuleCache cache = ModuleCache());

}  // namespace ferry
