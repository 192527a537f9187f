#include "crosscompile/backend/native/native_backend.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/codegen/llvm/target/imports.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/symbol.h"
#include "crosscompile/link/inspect_object.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/object_set.h"
#include "crosscompile/link/relocatable.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/needed_features.h"
#include "crosscompile/target/resolve.h"
#include "ferry/intrinsics.h"

#include <algorithm>

namespace ferry {
namespace {

// Returns each object once: the functions of a module often share their context.
std::vector<std::vector<std::uint8_t>> objects_of(std::span<const ir::Function> functions, const Target& target) {
  std::vector<const Context*> seen;
  std::vector<std::vector<std::uint8_t>> objects;
  for (const ir::Function& function : functions) {
    const Context* context = function.context.get();
    if (context == nullptr || std::find(seen.begin(), seen.end(), context) != seen.end()) continue;
    seen.push_back(context);
    for (const std::vector<std::uint8_t>& object : context->objects(target.arch_name)) objects.push_back(object);
  }
  return objects;
}

// Rejects unresolved imports here, where the caller can still fix them; a device would only refuse the module.
void check_image_imports(std::span<const std::uint8_t> image, std::span<const ir::Function> functions,
                         const Target& target) {
  std::vector<std::string> called;
  for (const ir::Function& function : functions)
    for (std::string& name : ir::extern_functions(function.body)) called.push_back(std::move(name));
  for (const std::string& symbol : link::imports_of(image)) {
    if (codegen::is_offered(symbol, target.arch_name)) continue;
    if (std::find(called.begin(), called.end(), symbol) != called.end())
      throw CompileError("expected an object for " + target.arch_name + " that defines the C function '" + symbol +
                         "', got none");
    throw CompileError("expected objects for " + target.arch_name +
                       " that call only what devices offer, got one that calls '" + symbol + "'");
  }
}

}  // namespace

void NativeBackend::check_supports_modules() const { check_has_server(target_); }

ModuleImages NativeBackend::images(const ModuleFunctions& functions) const {
  const std::vector<std::vector<std::uint8_t>> objects = objects_of(functions.lowered, target_);
  std::vector<std::string> exports;
  for (const ir::Function& function : functions.after_passes) exports.push_back(ir::function_symbol(function));
  const bool is_for_programs = functions.form == CodeForm::relocatable;
  std::vector<std::vector<std::uint8_t>> own = codegen::emit_objects(
      functions.after_passes, target_,
      is_for_programs ? codegen::TensorAlignment::element : codegen::TensorAlignment::device, functions.init_objects);
  switch (functions.form) {
    case CodeForm::relocatable:
      own.insert(own.end(), objects.begin(), objects.end());
      return {{{ImageKind::elf_object, link::link_relocatable(own), 0}}};
    case CodeForm::linked:
    case CodeForm::relinkable: break;
  }
  // What cannot be linked is refused now, whatever the form.
  std::vector<std::uint8_t> linked = link::link_shared(own, target_, exports, objects);
  check_image_imports(linked, functions.after_passes, target_);
  if (functions.form == CodeForm::relinkable)
    return {{{ImageKind::elf_objects, link::pack({std::move(own), objects}), 0}}};
  return {{{ImageKind::elf, std::move(linked), 0}}};
}

std::vector<std::uint8_t> NativeBackend::object(std::span<const ir::Function> after_passes,
                                                std::span<const std::uint8_t> description) const {
  return codegen::emit_object(after_passes, target_, description);
}

std::string NativeBackend::text(TextForm form, std::span<const ir::Function> lowered,
                                const passes::AfterPass& after) const {
  const std::vector<ir::Function> functions = passes::run_pipeline(lowered, target_, after);
  return form == TextForm::llvm ? codegen::emit_llvm(functions, target_) : codegen::emit_assembly(functions, target_);
}

std::optional<std::vector<std::uint8_t>> module_of_object(std::span<const std::uint8_t> object, const std::string& name,
                                                          CodeForm form) {
  const std::vector<std::uint8_t> description = link::section_of(object, codegen::kDescriptionSection);
  if (description.empty()) return std::nullopt;
  Result<ModuleFile> read = read_module(description);
  if (!read.is_ok()) throw CompileError(name + ": " + read.status().message());
  ModuleFile& module = read.value();
  const Target target = resolve_target(module.manifest.target);
  const link::ObjectFacts facts = link::inspect_object(object, name, target);
  std::vector<std::string> exports;
  for (const FunctionInfo& function : module.manifest.functions) {
    for (const Plan* plan : {&function.plan, &function.init}) {
      for (const Step& step : plan->steps) {
        const auto* call = std::get_if<CallStep>(&step);
        if (call == nullptr)
          throw CompileError(name + ": expected '" + function.name + "' to be native code, got another plan");
        exports.push_back(call->symbol);
        if (std::find(facts.functions.begin(), facts.functions.end(), call->symbol) == facts.functions.end())
          throw CompileError(name + ": expected the function '" + call->symbol + "', got none of that name");
      }
    }
  }
  module.images = {{ImageKind::elf, link::link_shared(object, target, exports), 0}};
  check_image_imports(module.images.back().bytes, {}, target);
  if (form == CodeForm::relinkable)
    module.images = {{ImageKind::elf_objects, link::pack({{{object.begin(), object.end()}}, {}}), 0}};
  return write_module(module);
}

}  // namespace ferry
