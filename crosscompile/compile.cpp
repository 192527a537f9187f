#include "crosscompile/compile.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/codegen/llvm/target/imports.h"
#include "crosscompile/codegen/llvm/target/padding.h"
#include "crosscompile/gpu_module.h"
#include "crosscompile/intrinsics/intrinsics.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/link/inspect_object.h"
#include "crosscompile/link/link.h"
#include "crosscompile/manifest_exprs.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/needed_features.h"
#include "crosscompile/target/resolve.h"
#include "module/module_file.h"
#include "module/runtime_api.h"

#include <algorithm>

namespace ferry {
namespace {

ParameterInfo describe_parameter(const ir::Function& function, const ir::FunctionParameter& parameter) {
  const std::string what = function.name + ": shape of '" + parameter.name + "'";
  ParameterInfo info;
  info.name = parameter.name;
  info.kind = parameter.kind;
  info.direction = parameter.direction;
  if (parameter.kind == ParameterKind::scalar) {
    info.dtype = parameter.scalar.type().code;
    return info;
  }
  info.dtype = parameter.buffer->dtype;
  for (const ir::Expr& extent : parameter.buffer->shape)
    info.shape.push_back(to_manifest(extent, function, what, DivisionByZero::error));
  for (const ir::Expr& stride : parameter.buffer->strides)
    info.strides.push_back(to_manifest(stride, function, what, DivisionByZero::error));
  return info;
}

// Adds the requirements under which sizes fit in 32 bits: 32-bit code has 32-bit loop counters and addresses, and the
// caller gets an error before they would overflow.
void require_narrow_sizes(FunctionInfo& info) {
  for (std::uint32_t i = 0; i < info.symbols.size(); ++i) {
    const ManifestInstruction symbol{ManifestOp::symbol, i};
    ManifestExpr fits;
    fits.code = {symbol,
                 {ManifestOp::constant, codegen::kMaxNarrowSize},
                 {ManifestOp::le, 0},
                 {ManifestOp::constant, -codegen::kMaxNarrowSize},
                 symbol,
                 {ManifestOp::le, 0},
                 {ManifestOp::logical_and, 0}};
    info.preconditions.push_back({std::move(fits), info.symbols[i] + " must be below 2^31 on a 32-bit device"});
  }
}

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
void check_imports(std::span<const std::uint8_t> image, std::span<const ir::Function> functions, const Target& target) {
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

FunctionInfo describe(const ir::Function& function) {
  FunctionInfo info;
  info.name = function.name;
  info.symbol = codegen::kSymbolPrefix + function.name;
  for (const ir::Expr& symbol : function.symbols) info.symbols.push_back(symbol.as<ir::Var>()->name);
  for (const ir::FunctionParameter& parameter : function.parameters) {
    info.parameters.push_back(describe_parameter(function, parameter));
  }
  for (const ir::Requirement& requirement : function.requirements) {
    info.preconditions.push_back(
        {to_manifest(requirement.condition, function, function.name + ": requirement"), requirement.message});
  }
  info.call_workspace = to_manifest(function.call_workspace, function, function.name + ": workspace");
  info.thread_workspace = to_manifest(function.thread_workspace, function, function.name + ": workspace");
  info.messages = function.messages;
  info.flops = to_manifest(function.flops, function, function.name + ": operation count");
  return info;
}

namespace {

struct Lowered {
  std::vector<ir::Function> functions;
  ModuleFile module;  // without images
  std::vector<std::string> exports;
};

Lowered lower_all(std::span<const ir::Function> functions, const Target& target, const ModuleText& text) {
  Lowered lowered;
  Manifest& manifest = lowered.module.manifest;
  manifest.abi_version = FERRY_ABI_VERSION;
  manifest.arch = target.arch_name;
  manifest.features = needed_features(target);
  manifest.target = target.text;
  const Target for_passes = pipeline_target(target);
  for (const ir::Function& function : functions) {
    lowered.functions.push_back(passes::run_pipeline(function, for_passes));
    manifest.functions.push_back(describe(lowered.functions.back()));
    FunctionInfo& info = manifest.functions.back();
    if (target.pointer_bits == 32) require_narrow_sizes(info);
    if (target.is_gpu()) info.plan = plan_of(lowered.functions.back(), target);
    lowered.exports.push_back(info.symbol);
  }
  if (const Status status = check_manifest(manifest); !status.is_ok()) {
    throw CompileError("the module cannot be described: " + status.message());
  }
  lowered.module.source = text.source;
  lowered.module.schedule = text.schedule;
  return lowered;
}

}  // namespace

std::vector<std::uint8_t> compile_module(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text, std::uint32_t code_padding) {
  const bool is_gpu = target.is_gpu();
  if (target.is_source && !is_gpu)
    throw CompileError("expected a target that modules are made for, got '" + target.text +
                       "': 'ferry compile --target " + target.arch_name + "' writes a text");
  require_device(target);
  Lowered lowered = lower_all(functions, target, text);
  if (is_gpu) {
    lowered.module.images = gpu_images(functions, lowered.functions, target);
    return write_module(lowered.module);
  }
  const std::vector<std::vector<std::uint8_t>> objects = objects_of(functions, target);
  std::vector<std::uint8_t> padding;
  if (code_padding != 0) {
    padding = codegen::emit_padding(target, code_padding);
    lowered.exports.push_back(codegen::kPaddingSymbol);
  }
  const std::vector<std::uint8_t> object = codegen::emit_object(lowered.functions, target);
  lowered.module.images.push_back({"elf", link::link_shared(object, target, lowered.exports, objects, padding)});
  check_imports(lowered.module.images.back().bytes, lowered.functions, target);
  return write_module(lowered.module);
}

std::vector<std::uint8_t> compile_object(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text) {
  if (target.objects_only) {
    std::vector<ir::Function> lowered;
    for (const ir::Function& function : functions) lowered.push_back(passes::run_pipeline(function, target));
    return codegen::emit_object(lowered, target);
  }
  const Lowered lowered = lower_all(functions, target, text);
  return codegen::emit_object(lowered.functions, target, write_module(lowered.module));
}

std::optional<std::vector<std::uint8_t>> module_of_object(std::span<const std::uint8_t> object,
                                                          const std::string& name) {
  const std::vector<std::uint8_t> description = link::section_of(object, codegen::kDescriptionSection);
  if (description.empty()) return std::nullopt;
  Result<ModuleFile> read = read_module(description);
  if (!read.is_ok()) throw CompileError(name + ": " + read.status().message());
  ModuleFile& module = read.value();
  const Target target = resolve_target(module.manifest.target);
  const link::ObjectFacts facts = link::inspect_object(object, name);
  if (facts.arch != target.arch_name)
    throw CompileError(name + ": expected an object for " + target.arch_name + ", got one for " + facts.arch);
  std::vector<std::string> exports;
  for (const FunctionInfo& function : module.manifest.functions) {
    exports.push_back(function.symbol);
    if (std::find(facts.functions.begin(), facts.functions.end(), function.symbol) == facts.functions.end())
      throw CompileError(name + ": expected the function '" + function.symbol + "', got none of that name");
  }
  module.images = {{"elf", link::link_shared(object, target, exports)}};
  check_imports(module.images.back().bytes, {}, target);
  return write_module(module);
}

bool has_compiler() { return true; }

}  // namespace ferry
