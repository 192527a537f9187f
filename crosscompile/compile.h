// From lowered functions to the bytes of a .ferry file: passes, code generation, linking, packaging.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "rpc/abi/manifest.h"

#include <cstdint>
#include <optional>
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

// The object itself, for whoever links it: what devices load is made of it by module_of_object() alone, as it carries
// its description along where an rpc_server runs (Target::objects_only).
std::vector<std::uint8_t> compile_object(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text);
// The .ferry file of an object that compile_object() made; nothing for any other. CompileError when what it describes
// is not what it holds.
std::optional<std::vector<std::uint8_t>> module_of_object(std::span<const std::uint8_t> object,
                                                          const std::string& name);

// What the manifest will say of a function (after the passes, which fix its workspaces).
FunctionInfo describe(const ir::Function& function);

// Whether all of the above is in this program: a client that only runs modules is built without (FERRY_COMPILER).
bool has_compiler();

}  // namespace ferry
