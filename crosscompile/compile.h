// From lowered functions to the bytes of a .ferry file: passes, code generation, linking, packaging.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "rpc/abi/manifest.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry {

struct ModuleText {
  std::string source;
  std::string schedule;
};

// code_padding: so many bytes stand before the code, which then lies at other addresses (docs/measuring.md says why).
std::vector<std::uint8_t> compile_module(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text, std::uint32_t code_padding = 0);

// What the manifest will say of a function (after the passes, which fix its workspaces).
FunctionInfo describe(const ir::Function& function);

// Whether all of the above is in this program: a client that only runs modules is built without (FERRY_COMPILER).
bool has_compiler();

}  // namespace ferry
