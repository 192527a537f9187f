// Compiles lowered functions to the bytes of a .ferry file: passes, code generation, linking, packaging.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/code_form.h"
#include "ferry/target/target.h"
#include "module/module_file.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

namespace codegen {
class ObjectCache;
}  // namespace codegen

// Replaces the functions of a module without code, which describes what was compiled, by others whose plans run their
// code.
using ComposeFunctions = std::function<void(ModuleFile& module)>;

struct ModuleOptions {
  // Texts that the module stores.
  std::string source = {};
  std::string schedule = {};
  ComposeFunctions compose = {};  // empty: for a module of the functions themselves
  CodeForm form = CodeForm::linked;
  // Null: init functions are code like others. Otherwise they are compiled for this target, and become images of the
  // kind ImageKind::init_module.
  const Target* init_target = nullptr;
  passes::AfterPass after = {};  // as of run_pipeline(), with the index among all functions
  // For a CPU's init functions that were compiled before; may be null.
  codegen::ObjectCache* init_objects = nullptr;
};

struct ModuleBytes {
  std::vector<std::uint8_t> bytes;      // a .ferry file
  std::vector<std::string> notes = {};  // what a user should know about the devices that it is for
};

// Functions that are compiled together for one device.
struct DeviceFunctions {
  std::span<const ir::Function> functions;
  const Target& target;
};

ModuleBytes compile_module(std::span<const ir::Function> functions, const Target& target,
                           const ModuleOptions& options = {});
// The same for a module of several devices, in their order. The target of the first is that of the module.
ModuleBytes compile_module(std::span<const DeviceFunctions> parts, const ModuleOptions& options);

// Returns the relocatable object, for linking into other programs. It also carries its own module description where an
// rpc_server runs on the target (see Target::objects_only), from which module_of_object() builds what devices load.
// Reads the texts and `after` of the options.
std::vector<std::uint8_t> compile_object(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleOptions& options);
// Returns the manifest entry of a function. Its workspaces are known only after the passes.
FunctionInfo describe_function(const ir::Function& function);

}  // namespace ferry
