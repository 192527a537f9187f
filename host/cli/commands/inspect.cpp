#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/commands/inspect_code.h"
#include "host/cli/commands/network_report.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/inspect_module.h"
#include "host/kernel/memory_use.h"
#include "host/kernel/network_source.h"
#include "host/kernel/node_names.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

const char* direction_name(Direction direction) {
  switch (direction) {
    case Direction::in: return "in";
    case Direction::out: return "out";
    case Direction::inout: return "inout";
  }
  return "";
}

// Returns the function with its init plan in place of its plan, for value_text() and step_text().
FunctionInfo with_init_plan(FunctionInfo function) {
  function.plan = function.init;
  return function;
}

text::Json shape_json(const std::vector<ManifestExpr>& shape, const std::vector<std::string>& symbols) {
  text::Json json = text::Json::array();
  for (const ManifestExpr& extent : shape) json.push_back(to_text(extent, symbols));
  return json;
}

text::Json descriptions_json(const std::vector<StepDescription>& steps, const std::vector<std::string>& symbols) {
  const auto text = [&](const ManifestExpr& expr) {
    return expr.code.empty() ? text::Json(nullptr) : text::Json(to_text(expr, symbols));
  };
  text::Json json = text::Json::array();
  for (const StepDescription& step : steps) {
    json.push_back({{"node", step.node},
                    {"dtype", dtype_name(step.dtype)},
                    {"shape", shape_json(step.shape, symbols)},
                    {"flops", text(step.flops)},
                    {"bytes", text(step.bytes)}});
  }
  return json;
}

// Returns the step's text, behind the name of its device if there are several.
std::string step_on_device(const FunctionInfo& function, const Step& step, const std::vector<std::string>& devices) {
  const std::optional<std::uint32_t> device = device_of(function, step);
  return (device && devices.size() > 1 ? devices[*device] + ": " : "") + step_text(function, step);
}

// Returns the same for the memory of a device.
std::string memory_on_device(const std::string& text, std::uint32_t device, const std::vector<std::string>& devices) {
  return (devices.size() > 1 ? devices[device] + ": " : "") + text;
}

// The sizes of a call, as far as the user gave them.
using Sizes = std::map<std::string, std::int64_t>;

// Returns the bytes of each kind of memory; null if a size is open.
text::Json memory_json(const std::optional<MemoryUse>& use) {
  if (!use) return nullptr;
  return {{"weights", use->weights}, {"weights_in_place", use->in_place},
          {"packed", use->packed},   {"binding", use->binding},
          {"arena", use->arena},     {"tensors", use->tensors},
          {"peak", use->peak()}};
}

void print_memory(const FunctionInfo& function, const std::optional<MemoryUse>& use, const Sizes& sizes) {
  if (!use) {
    std::string open;
    for (const std::string& symbol : function.symbols)
      if (!sizes.contains(symbol)) open += (open.empty() ? "" : ",") + symbol + "=SIZE";
    printf("  %-10s depends on sizes; --size %s computes it\n", "memory", open.c_str());
    return;
  }
  const auto part = [](std::uint64_t bytes, const char* what) {
    return bytes == 0 ? std::string() : count_text(bytes) + " bytes " + what + ", ";
  };
  std::string given;
  for (const auto& [name, size] : sizes) given += (given.empty() ? " for " : ",") + name + "=" + std::to_string(size);
  printf("  %-10s %s%s%s%s%s%s bytes at most at one time%s\n", "memory", part(use->weights, "of weights").c_str(),
         part(use->packed, "of packed weights").c_str(), part(use->binding, "while they are packed").c_str(),
         part(use->arena, "of workspace a call").c_str(), part(use->tensors, "of arguments").c_str(),
         count_text(use->peak()).c_str(), given.c_str());
}

// Returns bytes as a number or an expression; empty where it is neither, but has to be computed from other values.
std::string bytes_text(const FunctionInfo& function, ValueIndex value) {
  const std::string text = value_text(function, value);
  return text.starts_with("value ") ? "" : text;
}

text::Json function_json(const FunctionInfo& function, const std::vector<StepDescription>& descriptions,
                         const std::vector<std::string>& devices, const std::optional<MemoryUse>& memory) {
  text::Json parameters = text::Json::array();
  for (const ParameterInfo& parameter : function.parameters) {
    parameters.push_back({{"name", parameter.name},
                          {"kind", parameter.kind == ParameterKind::tensor ? "tensor" : "scalar"},
                          {"dtype", dtype_name(parameter.dtype)},
                          {"direction", direction_name(parameter.direction)},
                          {"constant", parameter.is_constant},
                          {"shape", shape_json(parameter.shape, function.symbols)}});
  }
  text::Json preconditions = text::Json::array();
  for (const Precondition& precondition : function.preconditions) {
    preconditions.push_back(
        {{"condition", to_text(precondition.condition, function.symbols)}, {"message", precondition.message}});
  }
  text::Json workspaces = text::Json::array(), steps = text::Json::array(), persistent = text::Json::array(),
             init_steps = text::Json::array();
  text::Json step_devices = text::Json::array();
  for (const Workspace& workspace : function.plan.workspaces)
    workspaces.push_back(value_text(function, workspace.bytes));
  for (const Step& step : function.plan.steps) {
    steps.push_back(step_text(function, step));
    const std::optional<std::uint32_t> device = device_of(function, step);
    step_devices.push_back(device ? text::Json(devices[*device]) : text::Json(nullptr));
  }
  const FunctionInfo init = with_init_plan(function);
  for (const PersistentBuffer& buffer : function.persistent) persistent.push_back(value_text(init, buffer.bytes));
  for (const Step& step : init.plan.steps) init_steps.push_back(step_text(init, step));
  return {{"name", function.name},
          {"signature", signature_text(function)},
          {"symbols", function.symbols},
          {"parameters", parameters},
          {"preconditions", preconditions},
          {"workspaces", workspaces},
          {"memory", memory_json(memory)},
          {"steps", steps},
          {"step_devices", step_devices},
          {"descriptions", descriptions_json(descriptions, function.symbols)},
          {"persistent", persistent},
          {"init_steps", init_steps},
          {"flops", to_text(function.flops, function.symbols)}};
}

text::Json image_json(const CodeImage& image, const std::vector<CubinKernel>& kernels) {
  text::Json json = {{"kind", image.name()}, {"bytes", image.bytes.size()}};
  for (const CubinKernel& kernel : kernels) {
    json["kernels"].push_back({{"name", kernel.name},
                               {"registers", kernel.registers},
                               {"stack_bytes", kernel.stack_bytes},
                               {"shared_bytes", kernel.shared_bytes}});
  }
  return json;
}

void print_image(const CodeImage& image, const std::vector<CubinKernel>& kernels) {
  printf("code      %s, %s bytes\n", printable(image.name()).c_str(), count_text(image.bytes.size()).c_str());
  for (const CubinKernel& kernel : kernels) {
    printf("            %s: %u registers a thread", printable(kernel.name).c_str(), kernel.registers);
    if (kernel.stack_bytes != 0) printf(", %s bytes of memory a thread", count_text(kernel.stack_bytes).c_str());
    if (kernel.shared_bytes != 0) printf(", %s bytes of shared memory", count_text(kernel.shared_bytes).c_str());
    printf("\n");
  }
}

void print_blobs(const InspectedModule& inspected) {
  const Manifest& manifest = inspected.module.manifest;
  if (manifest.blobs.empty()) return;
  std::uint64_t bytes = 0;
  for (const Blob& blob : manifest.blobs) bytes += blob.bytes;
  printf("blobs     %zu, %s bytes with %zu constants%s\n", manifest.blobs.size(), count_text(bytes).c_str(),
         manifest.constants.size(), inspected.contains_blobs ? "" : ", not in this file");
}

// Returns "/conv1/Conv+Relu f32[N,64,112,112]".
std::string description_text(const FunctionInfo& function, const StepDescription& step) {
  std::vector<std::string> sizes;
  for (const ManifestExpr& size : step.shape) sizes.push_back(to_text(size, function.symbols));
  return short_node_name(step.node) + " " + dtype_name(step.dtype) + "[" + join(",", sizes) + "]";
}

void print_function(const FunctionInfo& function, const std::vector<StepDescription>& steps,
                    const std::vector<std::string>& devices, const std::optional<MemoryUse>& memory,
                    const Sizes& sizes) {
  printf("\n%s\n", signature_text(function).c_str());
  for (const Precondition& precondition : function.preconditions) {
    printf("  requires   %s (%s)\n", to_text(precondition.condition, function.symbols).c_str(),
           precondition.message.c_str());
  }
  const auto expression = [&](const char* what, const ManifestExpr& value, const char* unit) {
    const std::string text = to_text(value, function.symbols);
    if (text != "0") printf("  %-10s %s%s\n", what, text.c_str(), unit);
  };
  print_memory(function, memory, sizes);
  for (const Workspace& workspace : function.plan.workspaces) {
    const std::string bytes = bytes_text(function, workspace.bytes);
    if (bytes.empty()) continue;
    printf("  %-10s %s bytes a call\n", "workspace", memory_on_device(bytes, workspace.device, devices).c_str());
  }
  for (std::size_t s = 0; s < function.plan.steps.size(); ++s) {
    const Step& step = function.plan.steps[s];
    std::string described;
    if (s < steps.size())
      described = (std::holds_alternative<RepeatStep>(step) ? short_node_name(steps[s].node)
                                                            : description_text(function, steps[s])) +
                  ": ";
    printf("  %-10s %s%s\n", "step", described.c_str(), step_on_device(function, step, devices).c_str());
  }
  const FunctionInfo init = with_init_plan(function);
  for (const PersistentBuffer& buffer : function.persistent)
    printf("  %-10s %s bytes an instance\n", "persistent",
           memory_on_device(value_text(init, buffer.bytes), buffer.device, devices).c_str());
  for (const Workspace& workspace : init.plan.workspaces)
    printf("  %-10s %s bytes to bind\n", "workspace",
           memory_on_device(value_text(init, workspace.bytes), workspace.device, devices).c_str());
  for (const Step& step : init.plan.steps)
    printf("  %-10s %s\n", "init step", step_on_device(init, step, devices).c_str());
  expression("work", function.flops, " floating-point operations");
}

text::Json to_json(const InspectedModule& inspected, const std::string& file, const Sizes& sizes) {
  const ModuleFile& module = inspected.module;
  const ModuleDevice& device = module.manifest.devices.front();
  text::Json images = text::Json::array();
  for (std::size_t i = 0; i < module.images.size(); ++i)
    images.push_back(image_json(module.images[i], inspected.kernels[i]));
  text::Json functions = text::Json::array(), blobs = text::Json::array();
  const std::vector<std::string> names = device_ids(module.manifest);
  for (const FunctionInfo& function : module.manifest.functions)
    functions.push_back(function_json(function, inspected.steps, names, memory_use(module.manifest, function, sizes)));
  text::Json devices = text::Json::array();
  for (const ModuleDevice& one : module.manifest.devices)
    devices.push_back({{"kind", one.kind}, {"arch", one.arch}, {"features", one.features}});
  for (const Blob& blob : module.manifest.blobs) blobs.push_back({{"hash", to_hex(blob.hash)}, {"bytes", blob.bytes}});
  return {{"schema", "ferry.inspect/1"},
          {"file", file},
          {"bytes", inspected.bytes},
          {"hash", inspected.hash},
          {"abi_version", module.manifest.abi_version},
          {"arch", device_name(device)},
          {"features", device.features},
          {"devices", devices},
          {"target", module.manifest.target},
          {"blobs", blobs},
          {"contains_blobs", inspected.contains_blobs},
          {"images", images},
          {"functions", functions},
          {"source", module.source},
          {"schedule", module.schedule}};
}

void print_schedule(const std::string& schedule) {
  if (!schedule.empty()) printf("\nschedule\n");
  for (std::size_t start = 0; start < schedule.size();) {
    const std::size_t end = std::min(schedule.find('\n', start), schedule.size());
    const std::string line = schedule.substr(start, end - start);
    printf("%s%s\n", line.empty() ? "" : line.starts_with("def ") ? "  " : "    ", printable(line).c_str());
    start = end + 1;
  }
}

int inspect(const std::string& name, const Sizes& sizes, bool json) {
  if (name.empty()) throw UsageError("expected a module: ferry inspect K.ferry");
  const InspectedModule inspected = inspect_module(name);
  if (json) {
    text::print_json(to_json(inspected, name, sizes));
    return kExitFine;
  }
  const ModuleFile& module = inspected.module;
  std::vector<std::optional<MemoryUse>> memory;
  for (const FunctionInfo& function : module.manifest.functions)
    memory.push_back(memory_use(module.manifest, function, sizes));
  printf("file      %s\n", name.c_str());
  printf("size      %s bytes\n", count_text(inspected.bytes).c_str());
  print_blobs(inspected);
  for (std::size_t i = 0; i < module.images.size(); ++i) print_image(module.images[i], inspected.kernels[i]);
  if (inspected.lacks_ptx()) printf("code      no PTX: GPUs that no cubin is for cannot run this module\n");
  printf("source    %s bytes\n", count_text(module.source.size()).c_str());
  printf("hash      %s\n", inspected.hash.c_str());
  printf("target    %s\n", module.manifest.target.c_str());
  for (const ModuleDevice& device : module.manifest.devices)
    printf("needs     %s%s%s, ABI %u\n", device_name(device).c_str(), device.features.empty() ? "" : " with ",
           join(" ", device.features).c_str(), module.manifest.abi_version);
  const std::vector<std::string> devices = device_ids(module.manifest);
  for (std::size_t f = 0; f < memory.size(); ++f)
    print_function(module.manifest.functions[f], inspected.steps, devices, memory[f], sizes);
  print_schedule(module.schedule);
  return kExitFine;
}

void add_code_options(CLI::App& command, bool& assembly, CodeOptions& code) {
  command.add_flag(
      "--asm", assembly,
      "The loops in which the code spends its time, with the number of instructions in the code of one iteration, of a "
      "module, or of a kernel in any language, which is compiled first");
  command.add_option("--target", code.target, "With --asm: what to compile a kernel for (default: this machine)")
      ->type_name("TARGET");
  command.add_option("--fn", code.kernel.function, "With --asm: the function to compile, where there are several")
      ->type_name("NAME");
  add_foreign_options(command, code.kernel);
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen, const CodeViews* code) {
  struct Options {
    std::string file;
    std::vector<std::string> sizes, bindings;
    bool assembly = false;
    CodeOptions code;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("inspect", "Show what a .ferry module or a network holds and needs");
  command
      .add_option("module", options->file,
                  "A compiled module, a network in ONNX's format: net.onnx, or with --asm a kernel")
      ->type_name("FILE");
  command
      .add_option("--size", options->sizes,
                  "Sizes of a network's inputs that are the same in every call, or of a call of a module, whose memory "
                  "is added up then: N=4,S=128")
      ->type_name("NAME=SIZE")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("--bind", options->bindings,
                  "The contents that an input of a network has in every call, where shapes depend on them")
      ->type_name("NAME=@FILE.npy")
      ->type_size(1)
      ->allow_extra_args(false);
  if (code != nullptr) add_code_options(command, options->assembly, options->code);
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry inspect mm.ferry\n"
      "  ferry inspect --asm fir.c --target raspberry-pi-4\n"
      "  ferry inspect mm.ferry --json | jq -r .source\n"
      "  ferry inspect mm.ferry --json | jq -r .schedule > mm.schedule\n"
      "  ferry inspect resnet18.onnx --size batch=1\n"
      "  ferry inspect resnet18.ferry --size batch=1");
  command.callback([options, code, &chosen] {
    chosen = [options, code](const Compiler* compiler) -> int {
      if (options->assembly) {
        options->code.kernel.file = options->file;
        options->code.kernel.bindings = options->bindings;
        options->code.sizes = options->sizes;
        options->code.json = options->json;
        return code->inspect(expect_compiler(compiler, "ferry inspect --asm"), options->code);
      }
      if (!is_network(options->file)) {
        if (options->bindings.empty()) return inspect(options->file, parse_sizes(options->sizes), options->json);
        throw UsageError("expected --bind with a network, got '" + options->file + "'");
      }
      const NetworkSource source = network_source(options->file, options->sizes, options->bindings);
      const Compiler& reader = expect_compiler(compiler, "inspecting a network");
      print_network(reader.inspect(source), options->file, options->json);
      return kExitFine;
    };
  });
}

}  // namespace ferry::cli
