#include <algorithm>
#include <cstdio>
#include <string>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/output/json.h"
#include "host/kernel/file.h"
#include "module/cubin.h"
#include "module/module_file.h"

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

Json function_json(const FunctionInfo& function) {
  Json parameters = Json::array();
  for (const ParameterInfo& parameter : function.parameters) {
    Json shape = Json::array();
    for (const ManifestExpr& extent : parameter.shape) shape.push_back(to_text(extent, function.symbols));
    parameters.push_back({{"name", parameter.name},
                          {"kind", parameter.kind == ParameterKind::tensor ? "tensor" : "scalar"},
                          {"dtype", dtype_name(parameter.dtype)},
                          {"direction", direction_name(parameter.direction)},
                          {"shape", shape}});
  }
  Json preconditions = Json::array();
  for (const Precondition& precondition : function.preconditions) {
    preconditions.push_back(
        {{"condition", to_text(precondition.condition, function.symbols)}, {"message", precondition.message}});
  }
  return {{"name", function.name},
          {"signature", signature_text(function)},
          {"symbols", function.symbols},
          {"parameters", parameters},
          {"preconditions", preconditions},
          {"call_workspace", to_text(function.call_workspace, function.symbols)},
          {"thread_workspace", to_text(function.thread_workspace, function.symbols)},
          {"flops", to_text(function.flops, function.symbols)}};
}

// Returns the compiler's report on machine code for a GPU; empty for images without one.
std::vector<CubinKernel> kernels_of(const CodeImage& image) {
  if (!image.kind.starts_with("cubin")) return {};
  Result<std::vector<CubinKernel>> kernels = cubin_kernels(image.bytes);
  return kernels.is_ok() ? std::move(kernels.value()) : std::vector<CubinKernel>();
}

Json image_json(const CodeImage& image) {
  Json json = {{"kind", image.kind}, {"bytes", image.bytes.size()}};
  for (const CubinKernel& kernel : kernels_of(image)) {
    json["kernels"].push_back({{"name", kernel.name},
                               {"registers", kernel.registers},
                               {"stack_bytes", kernel.stack_bytes},
                               {"shared_bytes", kernel.shared_bytes}});
  }
  return json;
}

void print_image(const CodeImage& image) {
  printf("code      %s, %s bytes\n", printable(image.kind).c_str(), count_text(image.bytes.size()).c_str());
  for (const CubinKernel& kernel : kernels_of(image)) {
    printf("            %s: %u registers a thread", printable(kernel.name).c_str(), kernel.registers);
    if (kernel.stack_bytes != 0) printf(", %s bytes of memory a thread", count_text(kernel.stack_bytes).c_str());
    if (kernel.shared_bytes != 0) printf(", %s bytes of shared memory", count_text(kernel.shared_bytes).c_str());
    printf("\n");
  }
}

// Whether a module has cubins and no PTX, by which it would run on GPUs for which there is no cubin.
bool lacks_ptx(const ModuleFile& module) {
  const auto is_ptx = [](const CodeImage& image) { return image.kind.starts_with("ptx"); };
  const auto is_cubin = [](const CodeImage& image) { return image.kind.starts_with("cubin"); };
  return std::any_of(module.images.begin(), module.images.end(), is_cubin) &&
         std::none_of(module.images.begin(), module.images.end(), is_ptx);
}

void print_function(const FunctionInfo& function) {
  printf("\n%s\n", signature_text(function).c_str());
  for (const Precondition& precondition : function.preconditions) {
    printf("  requires   %s (%s)\n", to_text(precondition.condition, function.symbols).c_str(),
           precondition.message.c_str());
  }
  const auto expression = [&](const char* what, const ManifestExpr& value, const char* unit) {
    const std::string text = to_text(value, function.symbols);
    if (text != "0") printf("  %-10s %s%s\n", what, text.c_str(), unit);
  };
  expression("workspace", function.call_workspace, " bytes a call");
  expression("workspace", function.thread_workspace, " bytes a thread");
  expression("work", function.flops, " floating-point operations");
}

int inspect(const std::string& name, bool json) {
  if (name.empty()) throw UsageError("expected a module: ferry inspect K.ferry");
  const std::string content = read_file(name);
  if (content.find('\0') == std::string::npos)
    throw UsageError(name + ": expected a compiled module, such as 'ferry compile " + name + "' makes, got a text");
  const std::vector<std::uint8_t> bytes(content.begin(), content.end());
  Result<ModuleFile> read = read_module(bytes);
  if (!read.is_ok()) throw UsageError(name + ": " + read.status().message());
  const ModuleFile& module = read.value();
  const std::string hash = to_hex(blake2b(bytes));
  if (json) {
    Json images = Json::array();
    for (const CodeImage& image : module.images) images.push_back(image_json(image));
    Json functions = Json::array();
    for (const FunctionInfo& function : module.manifest.functions) functions.push_back(function_json(function));
    print_json({{"schema", "ferry.inspect/1"},
                {"file", name},
                {"bytes", bytes.size()},
                {"hash", hash},
                {"abi_version", module.manifest.abi_version},
                {"arch", module.manifest.arch},
                {"features", module.manifest.features},
                {"target", module.manifest.target},
                {"images", images},
                {"functions", functions},
                {"source", module.source},
                {"schedule", module.schedule}});
    return kExitFine;
  }
  printf("file      %s\n", name.c_str());
  printf("size      %s bytes\n", count_text(bytes.size()).c_str());
  for (const CodeImage& image : module.images) print_image(image);
  if (lacks_ptx(module)) printf("code      no PTX: GPUs that no cubin is for cannot run this module\n");
  printf("source    %s bytes\n", count_text(module.source.size()).c_str());
  printf("hash      %s\n", hash.c_str());
  printf("target    %s\n", module.manifest.target.c_str());
  printf("needs     %s%s%s, ABI %u\n", module.manifest.arch.c_str(), module.manifest.features.empty() ? "" : " with ",
         join(" ", module.manifest.features).c_str(), module.manifest.abi_version);
  for (const FunctionInfo& function : module.manifest.functions) print_function(function);
  if (!module.schedule.empty()) printf("\nschedule\n");
  for (std::size_t start = 0; start < module.schedule.size();) {
    const std::size_t end = std::min(module.schedule.find('\n', start), module.schedule.size());
    const std::string line = module.schedule.substr(start, end - start);
    printf("%s%s\n", line.empty() ? "" : line.starts_with("def ") ? "  " : "    ", printable(line).c_str());
    start = end + 1;
  }
  return kExitFine;
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("inspect", "Show what a .ferry module holds and needs");
  command.add_option("module", options->file, "A compiled module")->type_name("K.ferry");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry inspect mm.ferry\n"
      "  ferry inspect mm.ferry --json | jq -r .source\n"
      "  ferry inspect mm.ferry --json | jq -r .schedule > mm.schedule");
  command.callback([options, &chosen] { chosen = [options] { return inspect(options->file, options->json); }; });
}

}  // namespace ferry::cli
