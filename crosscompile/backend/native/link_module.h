// Links modules whose code was left as objects (CodeForm::relinkable).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crosscompile/target/code_form.h"
#include "ferry/hash.h"

namespace ferry {

// Returns the module that devices load. The objects are linked with the same inputs and options as when the module is
// compiled as linked, so that it has the same bytes, apart from where its code and data lie. Images of other kinds stay
// as they are. Deterministic. Throws CompileError for a layout with other numbers than CodeLayout allows, for bytes
// that are no module, for a module without such code, and for objects that do not define what the module calls.
std::vector<std::uint8_t> link_module(std::span<const std::uint8_t> module, const CodeLayout& layout);

// Returns the hash of what a module of any form does when it runs: what it describes and the loaded bytes of its code.
// Source text, schedule, descriptions of steps, debug information and the names of compilers have no part in it. Throws
// CompileError as link_module().
Hash code_identity(std::span<const std::uint8_t> module);

}  // namespace ferry
