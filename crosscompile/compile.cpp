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

FunctionInfo describe_function(const ir::Function& function) {
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

// Moves all that a function has and does to a device.
void move_to(std::uint32_t device, FunctionInfo& function) {
  for (ParameterInfo& parameter : function.parameters) parameter.device = device;
  for (PersistentBuffer& buffer : function.persistent) buffer.device = device;
  for (Plan* plan : {&function.plan, &function.init}) {
    for (Workspace& workspace : plan->workspaces) workspace.device = device;
    for (Step& step : plan->steps) {
      if (auto* call = std::get_if<CallStep>(&step)) call->device = device;
      if (auto* launch = std::get_if<LaunchStep>(&step)) launch->device = device;
    }
  }
}

// One of a module's devices while it is compiled.
struct PreparedDevice {
  std::unique_ptr<Backend> backend;
  std::vector<ir::Function> functions;  // after the passes
};

// Adds a device and the functions that run on it. separate_init: init functions are functions like others.
void add_device(PreparedDevice& prepared, const DeviceFunctions& part, Manifest& manifest,
                const passes::AfterPass& after, bool separate_init = false) {
  const Target& target = part.target;
  const auto device = static_cast<std::uint32_t>(manifest.devices.size());
  const std::size_t first = manifest.functions.size();
  manifest.devices.push_back(
      {device_kind_name(target.device.kind), target.is_for_cpu() ? target.arch_name : "", needed_features(target)});
  prepared.functions = passes::run_pipeline(part.functions, prepared.backend->pipeline_target(), after);
  for (const ir::Function& function : prepared.functions) {
    FunctionInfo info = describe_function(function);
    if (target.pointer_bits == 32) require_narrow_sizes(info);
    if (std::optional<Plan> plan = prepared.backend->plan_of(function)) info.plan = std::move(*plan);
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
  for (std::size_t f = first; f < manifest.functions.size(); ++f) move_to(device, manifest.functions[f]);
}

// Completes what add_device() has described.
void finish_description(ModuleFile& module, const Target& target, const ModuleOptions& options) {
  module.manifest.abi_version = FERRY_ABI_VERSION;
  module.manifest.target = target.text;
  if (options.compose) options.compose(module);
  if (const Status status = check_manifest(module.manifest); !status.is_ok()) {
    throw CompileError("the module cannot be described: " + status.message());
  }
  module.source = options.source;
  module.schedule = options.schedule;
}

bool is_init(const ir::Function& function) { return !function.init_of.empty(); }

// Compiles the init functions among these to modules of functions that are called with their constants and return the
// persistent tensors. Each has as its name the symbol by which the init plan calls it.
void add_init_modules(std::span<const ir::Function> functions, const Target& target, std::vector<CodeImage>& images) {
  std::vector<ir::Function> inits;
  std::copy_if(functions.begin(), functions.end(), std::back_inserter(inits), is_init);
  for (std::size_t first = 0; first < inits.size(); first += kMaxFunctions) {
    const std::span part = std::span(inits).subspan(first, std::min(kMaxFunctions, inits.size() - first));
    ModuleFile module;
    PreparedDevice prepared{make_backend(target), {}};
    add_device(prepared, {part, target}, module.manifest, {}, true);
    finish_description(module, target, {});
    module.images = prepared.backend->images({part, prepared.functions}).images;
    images.push_back({ImageKind::init_module, write_module(module)});
  }
}

}  // namespace

ModuleBytes compile_module(std::span<const ir::Function> functions, const Target& target,
                           const ModuleOptions& options) {
  const DeviceFunctions part{functions, target};
  return compile_module(std::span(&part, 1), options);
}

ModuleBytes compile_module(std::span<const DeviceFunctions> parts, const ModuleOptions& options) {
  std::vector<PreparedDevice> devices;
  for (const DeviceFunctions& part : parts) {
    devices.push_back({make_backend(part.target), {}});
    devices.back().backend->check_supports_modules();
  }
  ModuleFile module;
  std::size_t first = 0;
  for (std::size_t d = 0; d < parts.size(); first += parts[d++].functions.size()) {
    add_device(devices[d], parts[d], module.manifest,
               [&](std::size_t index, std::string_view pass, const ir::Function& now) {
                 if (options.after) options.after(first + index, pass, now);
               });
  }
  finish_description(module, parts.front().target, options);
  ModuleBytes result;
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    const Backend& backend = *devices[d].backend;
    if (options.init_target != nullptr) std::erase_if(devices[d].functions, is_init);
    ModuleImages compiled =
        backend.images({parts[d].functions, devices[d].functions, options.form, options.init_objects});
    for (std::string& note : compiled.notes) result.notes.push_back(std::move(note));
    for (CodeImage& image : compiled.images) {
      image.device = d;
      module.images.push_back(std::move(image));
    }
  }
  if (options.init_target != nullptr) add_init_modules(parts.front().functions, *options.init_target, module.images);
  result.bytes = write_module(module);
  return result;
}

std::vector<std::uint8_t> compile_object(std::span<const ir::Function> functions, const Target& target,
                                         const ModuleOptions& options) {
  PreparedDevice prepared{make_backend(target), {}};
  if (target.objects_only) return prepared.backend->object(passes::run_pipeline(functions, target, options.after), {});
  ModuleFile module;
  add_device(prepared, {functions, target}, module.manifest, options.after);
  finish_description(module, target, {options.source, options.schedule});
  return prepared.backend->object(prepared.functions, write_module(module));
}

}  // namespace ferry
