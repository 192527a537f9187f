// Compiles lowered functions to the bytes of a .ferry file: passes, code generation, linking, packaging.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/code_form.h"
#include "ferry/target/target.h"
#include "module/module_file.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

struct ModuleText {
  std::string source;
  std::string schedule;
};

// Replaces the functions of a module without code, which describes what was compiled, by others whose plans run their
// code.
using ComposeFunctions = std::function<void(ModuleFile& module)>;

// Functions that are compiled together for one device.
struct DeviceFunctions {
  std::span<const ir::Function> functions;
  const Target& target;
};

// compose: empty for a module of the functions themselves.
std::vector<std::uint8_t> compile_module(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text, const ComposeFunctions& compose = {},
                                         CodeForm form = CodeForm::linked);
// The same for a module of several devices, in their order. The target of the first is that of the module.
std::vector<std::uint8_t> compile_module(std::span<const DeviceFunctions> parts, const ModuleText& text,
                                         const ComposeFunctions& compose = {}, CodeForm form = CodeForm::linked);

// Compiles the init functions among these to modules of functions that are called with their constants and return the
// persistent tensors. Each has as its name the symbol by which the init plan calls it.
std::vector<std::vector<std::uint8_t>> compile_init_functions(std::span<const ir::Function> functions,
                                                              const Target& target);

// Returns the relocatable object, for linking into other programs. It also carries its own module description where an
// rpc_server runs on the target (see Target::objects_only), from which module_of_object() builds what devices load.
std::vector<std::uint8_t> compile_object(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text);
// Returns the manifest entry of a function. Its workspaces are known only after the passes.
FunctionInfo describe(const ir::Function& function);

}  // namespace ferry
