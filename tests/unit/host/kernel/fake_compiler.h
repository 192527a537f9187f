// A compiler that compiles nothing: it remembers what services ask of it, and answers what a test told it to.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "host/compiler/api/compiler.h"
#include "module/module_file.h"
#include "module/step_description.h"

namespace ferry::test {

class FakeCompiler final : public Compiler {
 public:
  // What it answers.
  Noted<Target> target;
  FunctionInfo function;
  std::vector<std::string> notes, module_notes;
  std::vector<std::string> nodes;  // a network's nodes
  // What it was asked, last.
  mutable std::string target_text, source;
  mutable SizesByName sizes;
  mutable std::vector<std::string> others;
  mutable CodeForm form = CodeForm::linked;
  mutable NetworkSource network;

  Noted<Target> resolve_target(std::string_view text) const override {
    target_text = text;
    return target;
  }
  Target target_of(const DeviceFacts&) const override { return target.value; }
  FunctionInfo describe(const lang::Program&) const override { return function; }
  Compiled compile(const CompileRequest& request) const override {
    source = request.source;
    sizes = request.scheduled.sizes;
    others = request.scheduled.others;
    form = request.form;
    return {module_of({function}), notes, module_notes};
  }
  std::shared_ptr<const Network> read(const NetworkSource& named) const override {
    network = named;
    return std::make_shared<const FakeNetwork>(*this);
  }
  // A function's name is its signature.
  std::vector<ForeignFunction> describe(const ForeignSource& foreign) const override {
    std::vector<ForeignFunction> functions;
    for (const std::string& signature : foreign.signatures) {
      functions.push_back({{}, signature, !foreign.launch.empty()});
      functions.back().info.name = signature;
    }
    return functions;
  }
  std::string source_line(std::span<const std::uint8_t>, std::uint64_t address) const override {
    return "kernel.tc:" + std::to_string(address);
  }

  const std::vector<NamedTarget>& named_targets() const override { unexpected(); }
  std::vector<MachineFunction> disassemble(std::span<const std::uint8_t>, const Target&) const override {
    unexpected();
  }
  NetworkSummary inspect(const NetworkSource&) const override { unexpected(); }
  Bytes compile(std::span<const ir::Function>, const Target&) const override { unexpected(); }
  std::vector<ExportedFile> export_code(const ExportRequest&) const override { unexpected(); }
  Emission emit(Stage, const CompileRequest&, const std::string&) const override { unexpected(); }
  std::map<std::string, std::vector<std::string>> knobs_of(const ScheduleText&) const override { unexpected(); }
  SpacePoint space_at(const Scheduled&, const Target&) const override { unexpected(); }
  std::optional<double> estimated_cycles(const Scheduled&, const Target&, std::uint32_t) const override {
    unexpected();
  }
  std::optional<double> code_cycles(const Scheduled&, const Target&, std::uint32_t) const override { unexpected(); }
  InterpretedKernel interpret(const Scheduled&, const Target*) const override { unexpected(); }
  HostKernel load(const Scheduled&) const override { unexpected(); }
  Bytes compile(const ForeignSource&, const Target&, CodeForm) const override { unexpected(); }
  std::function<SanitizedRun(double)> sanitize(const ForeignSource&, const std::string&, const Target&,
                                               const std::vector<SanitizedArgument>&,
                                               const std::vector<std::int64_t>&) const override {
    unexpected();
  }
  std::optional<Bytes> module_of_object(std::span<const std::uint8_t>, const std::string&, CodeForm) const override {
    unexpected();
  }
  Bytes link_module(std::span<const std::uint8_t>, const CodeLayout&) const override { unexpected(); }
  Hash code_identity(std::span<const std::uint8_t>) const override { unexpected(); }
  Hash identity(const Target&) const override { unexpected(); }

  // Returns a .ferry file with these functions and no code.
  static Bytes module_of(std::vector<FunctionInfo> functions, const ModuleDevice& device = {"cpu", "x86_64", {}},
                         const std::vector<std::string>& nodes = {}) {
    ModuleFile module;
    module.manifest.devices = {device};
    module.manifest.functions = std::move(functions);
    std::vector<StepDescription> steps;
    for (const std::string& node : nodes) steps.push_back({node, DType::f32, {}, {}, {}});
    if (!steps.empty()) module.descriptions = encode_step_descriptions(std::move(steps));
    return write_module(module);
  }

 private:
  class FakeNetwork final : public Network {
   public:
    explicit FakeNetwork(const FakeCompiler& compiler) : compiler_(compiler) {}
    const FunctionInfo& function() const override { return compiler_.function; }
    Compiled compile(const NetworkRequest& request) const override {
      compiler_.sizes = request.sizes;
      compiler_.form = request.form;
      return {.module = module_of({compiler_.function}, {"cpu", "x86_64", {}}, compiler_.nodes),
              .notes = compiler_.notes,
              .module_notes = compiler_.module_notes};
    }
    std::optional<Hash> identity(const NetworkRequest&) const override { unexpected(); }
    NetworkIdentity network_identity() const override { unexpected(); }
    Emission emit(Stage, const NetworkRequest&, const std::string&) const override { unexpected(); }
    const NetworkSource& source() const override { unexpected(); }
    const NetworkNames& names() const override { unexpected(); }
    std::shared_ptr<const Network> with_outputs(const std::vector<std::string>&) const override { unexpected(); }
    std::shared_ptr<const Network> with_all_outputs(const Target&, const SizesByName&,
                                                    const TunedSchedules*) const override {
      unexpected();
    }
    std::vector<NetworkProgram> kernels(const NetworkRequest&) const override { unexpected(); }
    std::vector<NodeProgram> nodes(const SizesByName&) const override { unexpected(); }
    NetworkLayouts layouts(const NetworkRequest&) const override { unexpected(); }
    std::string least_cost_layouts(const NetworkLayouts&) const override { unexpected(); }

   private:
    const FakeCompiler& compiler_;
  };

  [[noreturn]] static void unexpected() { throw std::logic_error("the compiler is asked what no test expects"); }
};

}  // namespace ferry::test
