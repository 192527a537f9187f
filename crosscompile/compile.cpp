#include "crosscompile/compile.h"

#include "crosscompile/backend/manifest_exprs.h"
#include "crosscompile/backend/native/native_backend.h"
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/passed_parameters.h"
#include "crosscompile/ir/symbol.h"
#include "crosscompile/make_backend.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/needed_features.h"
#include "ferry/runtime_api.h"
#include "module/init_plan.h"
#include "module/module_file.h"

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
  info.is_constant = parameter.constant && parameter.buffer->strides.empty();
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

}  // namespace

FunctionInfo describe(const ir::Function& function) {
  FunctionInfo info;
  info.name = function.name;
  for (const ir::Expr& symbol : function.symbols) info.symbols.push_back(symbol.as<ir::Var>()->name);
  for (const ir::FunctionParameter& parameter : function.parameters) {
    info.parameters.push_back(describe_parameter(function, parameter));
  }
  for (const ir::Requirement& requirement : function.requirements) {
    info.preconditions.push_back(
        {to_manifest(requirement.condition, function, function.name + ": requirement"), requirement.message});
  }
  info.messages = function.messages;
  info.flops = to_manifest(function.flops, function, function.name + ": operation count");
  set_native_code(info, {ir::function_symbol(function),
                         to_manifest(function.call_workspace, function, function.name + ": workspace"),
                         to_manifest(function.thread_workspace, function, function.name + ": workspace")});
  const std::vector<bool> passed = ir::passed_parameters(function);
  std::erase_if(std::get<CallStep>(info.plan.steps.front()).operands, [&](const Operand& operand) {
    return operand.kind == OperandKind::argument && !passed[operand.index];
  });
  return info;
}

namespace {

void attach(FunctionInfo init, const std::string& name, Manifest& manifest) {
  const auto function = std::find_if(manifest.functions.begin(), manifest.functions.end(),
                                     [&](const FunctionInfo& info) { return info.name == name; });
  if (function == manifest.functions.end()) throw InternalError(init.name + " comes without " + name);
  const Status status = attach_init_plan(*function, std::move(init));
  if (!status.is_ok()) throw InternalError(status.message());
}

struct PreparedModule {
  std::vector<ir::Function> functions;
  ModuleFile module;  // without images
};

PreparedModule run_passes_and_describe(std::span<const ir::Function> functions, const Target& target,
                                       const Backend& backend, const ModuleText& text,
                                       const ComposeFunctions& compose = {}, bool separate_init = false) {
  PreparedModule prepared;
  Manifest& manifest = prepared.module.manifest;
  manifest.abi_version = FERRY_ABI_VERSION;
  manifest.devices = {
      {target.is_gpu() ? target.arch_name : "cpu", target.is_gpu() ? "" : target.arch_name, needed_features(target)}};
  manifest.target = target.text;
  prepared.functions = passes::run_pipeline(functions, backend.pipeline_target());
  for (const ir::Function& function : prepared.functions) {
    FunctionInfo info = describe(function);
    if (target.pointer_bits == 32) require_narrow_sizes(info);
    if (target.is_gpu()) info.plan = backend.plan_of(function);
    if (function.init_of.empty()) {
      manifest.functions.push_back(std::move(info));
    } else if (separate_init) {
      info.name = ir::function_symbol(function);
      for (ParameterInfo& parameter : info.parameters) parameter.is_constant = false;
      manifest.functions.push_back(std::move(info));
    } else {
      attach(std::move(info), function.init_of, manifest);
    }
  }
  if (compose) compose(prepared.module);
  if (const Status status = check_manifest(manifest); !status.is_ok()) {
    throw CompileError("the module cannot be described: " + status.message());
  }
  prepared.module.source = text.source;
  prepared.module.schedule = text.schedule;
  return prepared;
}

}  // namespace

std::vector<std::uint8_t> compile_module(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text, std::uint32_t code_padding,
                                         const ComposeFunctions& compose, CodeForm form) {
  const std::unique_ptr<Backend> backend = make_backend(target);
  backend->check_supports_modules();
  PreparedModule prepared = run_passes_and_describe(functions, target, *backend, text, compose);
  if (form == CodeForm::relocatable_without_init)
    std::erase_if(prepared.functions, [](const ir::Function& function) { return !function.init_of.empty(); });
  prepared.module.images = backend->images({functions, prepared.functions, code_padding, form != CodeForm::linked});
  return write_module(prepared.module);
}

std::vector<std::vector<std::uint8_t>> compile_init_functions(std::span<const ir::Function> functions,
                                                              const Target& target) {
  const std::unique_ptr<Backend> backend = make_backend(target);
  std::vector<ir::Function> inits;
  for (const ir::Function& function : functions)
    if (!function.init_of.empty()) inits.push_back(function);
  std::vector<std::vector<std::uint8_t>> modules;
  for (std::size_t first = 0; first < inits.size(); first += kMaxFunctions) {
    const std::span part = std::span(inits).subspan(first, std::min(kMaxFunctions, inits.size() - first));
    PreparedModule prepared = run_passes_and_describe(part, target, *backend, {}, {}, true);
    prepared.module.images = backend->images({part, prepared.functions});
    modules.push_back(write_module(prepared.module));
  }
  return modules;
}

std::vector<std::uint8_t> compile_object(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleText& text) {
  const std::unique_ptr<Backend> backend = make_backend(target);
  if (target.objects_only) return backend->object(passes::run_pipeline(functions, target), {});
  const PreparedModule prepared = run_passes_and_describe(functions, target, *backend, text);
  return backend->object(prepared.functions, write_module(prepared.module));
}

}  // namespace ferry
