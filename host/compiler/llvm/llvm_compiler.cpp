#include "host/compiler/llvm/llvm_compiler.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "crosscompile/backend/native/link_module.h"
#include "crosscompile/backend/native/native_backend.h"
#include "crosscompile/codegen/llvm/object_cache.h"
#include "crosscompile/codegen/llvm/source_line.h"
#include "crosscompile/codegen/llvm/target/disassemble.h"
#include "crosscompile/compile.h"
#include "crosscompile/confine/run_confined.h"
#include "crosscompile/export/export_code.h"
#include "crosscompile/foreign/cuda_compiler.h"
#include "crosscompile/foreign/foreign.h"
#include "crosscompile/foreign/interpreted_cuda.h"
#include "crosscompile/foreign/sanitized_run.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/schedule/module_schedule.h"
#include "host/compiler/llvm/cache_key.h"
#include "host/compiler/llvm/emit.h"
#include "host/compiler/llvm/estimated_cycles.h"
#include "host/compiler/llvm/host_kernel.h"
#include "host/compiler/llvm/inspect_network.h"
#include "host/compiler/llvm/interpreted_kernel.h"
#include "host/compiler/llvm/network.h"
#include "host/compiler/llvm/scheduled_programs.h"
#include "host/compiler/llvm/space.h"
#include "host/lower/lower.h"
#include "host/lower/signature.h"

namespace ferry {

namespace {

std::vector<std::string> signatures_of(const ForeignSource& source) {
  return source.signatures.empty() ? foreign::signatures_in_source(source.source) : source.signatures;
}

foreign::ForeignKernel kernel_of(const ForeignSource& source) {
  foreign::ForeignKernel kernel;
  kernel.file = source.file;
  kernel.flags = source.flags;
  kernel.source = source.source;
  for (const std::string& signature : signatures_of(source))
    kernel.signatures.push_back(foreign::is_cuda(source.file) ? foreign::parse_cuda_signature(signature, source.launch)
                                                              : foreign::parse_signature(signature));
  return kernel;
}

exported::Form form_of(ExportForm form) {
  switch (form) {
    case ExportForm::object: return exported::Form::object;
    case ExportForm::archive: return exported::Form::archive;
    case ExportForm::shared: return exported::Form::shared;
  }
  return exported::Form::object;
}

class LlvmCompiler final : public Compiler {
 public:
  explicit LlvmCompiler(ModuleCache cache) : cache_(std::move(cache)) { (void)build_identity(); }

  Noted<Target> resolve_target(std::string_view text) const override {
    Noted<Target> target;
    target.value = ferry::resolve_target(text, &target.notes);
    return target;
  }

  Target target_of(const DeviceFacts& facts) const override { return ferry::target_of(facts); }

  const std::vector<NamedTarget>& named_targets() const override { return ferry::named_targets(); }

  FunctionInfo describe(const lang::Program& program) const override {
    return describe_function(lower::signature_of(program));
  }

  Compiled compile(const CompileRequest& request) const override {
    const ScheduledPrograms all = scheduled_programs(request.scheduled, request.target);
    const auto& [programs, schedules, sized] = all;
    const std::vector<ir::Function> lowered = lower::lower_module(programs, schedules);
    ScheduleNotes notes(request.scheduled, schedules, lowered, request.target);
    ModuleOptions options{.source = request.source,
                          .schedule = schedule_text(all),
                          .form = request.form,
                          .after = [&](std::size_t function, std::string_view pass,
                                       const ir::Function& now) { notes.after(function, pass, now); },
                          .init_objects = &init_objects_};
    if (!sized.empty()) options.compose = [&](ModuleFile& file) { attach_sized(sized, file.manifest); };
    ModuleBytes module = compile_module(lowered, request.target, options);
    return {std::move(module.bytes), notes.texts(), std::move(module.notes)};
  }

  Bytes compile(std::span<const ir::Function> functions, const Target& target) const override {
    return compile_module(functions, target).bytes;
  }

  std::vector<ExportedFile> export_code(const ExportRequest& request) const override {
    std::vector<ExportedFile> files;
    for (exported::File& file :
         exported::export_code(request.module, request.blobs, request.target,
                               {request.name, form_of(request.form), request.weights_file, request.sizes}))
      files.push_back({std::move(file.name), std::move(file.bytes)});
    return files;
  }

  Emission emit(Stage stage, const CompileRequest& request, const std::string& after) const override {
    return emit_stage(stage, request, after);
  }

  std::map<std::string, std::vector<std::string>> knobs_of(const ScheduleText& schedule) const override {
    std::map<std::string, std::vector<std::string>> knobs;
    for (schedule::Knob& knob : autoschedule::knobs_of(schedule)) knobs.emplace(knob.name, std::move(knob.choices));
    return knobs;
  }

  SpacePoint space_at(const Scheduled& scheduled, const Target& target) const override {
    autoschedule::DecidedSchedule decided = std::move(spaces_of(scheduled, target).at(0).decided);
    SpacePoint point = space_point(decided);
    point.decided = decided_point(scheduled.programs[0], std::move(decided.schedule), scheduled.sizes, target);
    return point;
  }

  std::optional<double> estimated_cycles(const Scheduled& scheduled, const Target& target,
                                         std::uint32_t threads) const override {
    return cycles_of(scheduled, target, threads);
  }

  std::optional<double> code_cycles(const Scheduled& scheduled, const Target& target,
                                    std::uint32_t threads) const override {
    return code_cycles_of(scheduled, target, threads);
  }

  InterpretedKernel interpret(const Scheduled& scheduled, const Target* target) const override {
    return interpreted_kernel(scheduled, target);
  }

  HostKernel load(const Scheduled& scheduled) const override { return host_kernel(*this, scheduled); }

  NetworkSummary inspect(const NetworkSource& source) const override { return inspect_network(source); }

  std::shared_ptr<const Network> read(const NetworkSource& source) const override {
    return read_network(source, cache_);
  }

  std::vector<ForeignFunction> describe(const ForeignSource& source) const override {
    const std::vector<std::string> texts = signatures_of(source);
    std::vector<ForeignFunction> functions;
    for (foreign::Signature& signature : kernel_of(source).signatures) {
      const std::size_t number = functions.size();
      functions.push_back({std::move(signature.function), texts[number], signature.launch.has_value()});
    }
    return functions;
  }

  Bytes compile(const ForeignSource& source, const Target& target, CodeForm form) const override {
    return foreign::compile_foreign(kernel_of(source), target, form);
  }

  std::function<SanitizedRun(double)> sanitize(const ForeignSource& source, const std::string& function,
                                               const Target& target, const std::vector<SanitizedArgument>& arguments,
                                               const std::vector<std::int64_t>& symbols) const override {
    std::vector<foreign::SanitizedArgument> given;
    for (const SanitizedArgument& argument : arguments) given.push_back({argument.scalar_bits, argument.bytes});
    const std::shared_ptr<const CheckedKernel> kernel = checked_kernel(source, function, target);
    const auto result = [](foreign::SanitizedRun run) {
      return SanitizedRun{std::move(run.report), std::move(run.mistake), std::move(run.outputs),
                          confine::missing_restrictions()};
    };
    if (kernel->interpreted != nullptr)
      return [kernel, result, given, symbols](double deadline) {
        return result(kernel->interpreted->run(given, symbols, deadline));
      };
    const auto call = std::make_shared<const foreign::SanitizedCall>(
        std::shared_ptr<const foreign::SanitizedKernel>(kernel, kernel->sanitized.get()), given, symbols);
    return [call, result](double deadline) { return result(call->run(deadline)); };
  }

  std::optional<Bytes> module_of_object(std::span<const std::uint8_t> object, const std::string& name,
                                        CodeForm form) const override {
    return ferry::module_of_object(object, name, form);
  }

  Bytes link_module(std::span<const std::uint8_t> module, const CodeLayout& layout) const override {
    return ferry::link_module(module, layout);
  }

  Hash code_identity(std::span<const std::uint8_t> module) const override { return ferry::code_identity(module); }

  Hash identity(const Target& target) const override {
    CacheKey key;
    key.add(target);
    key.add_tools(target);
    return key.finish();
  }

  std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address) const override {
    return codegen::source_line(image, address);
  }

  std::vector<MachineFunction> disassemble(std::span<const std::uint8_t> image, const Target& target) const override {
    return codegen::disassemble(image, target);
  }

 private:
  // A check calls one kernel with many inputs, so the last one is kept.
  struct CheckedKernel {
    foreign::ForeignKernel kernel;
    std::string function, launch, target;
    // One of them, which refers to a signature of the kernel.
    std::unique_ptr<const foreign::SanitizedKernel> sanitized = {};
    std::unique_ptr<const foreign::InterpretedCuda> interpreted = {};
  };

  std::shared_ptr<const CheckedKernel> checked_kernel(const ForeignSource& source, const std::string& function,
                                                      const Target& target) const {
    const std::scoped_lock lock(checking_);
    const CheckedKernel* last = last_checked_.get();
    if (last != nullptr && last->function == function && last->launch == source.launch && last->target == target.text &&
        last->kernel.file == source.file && last->kernel.flags == source.flags && last->kernel.source == source.source)
      return last_checked_;
    const auto fresh =
        std::make_shared<CheckedKernel>(CheckedKernel{kernel_of(source), function, source.launch, target.text});
    const auto signature = std::ranges::find(fresh->kernel.signatures, function,
                                             [](const foreign::Signature& one) { return one.function.name; });
    if (signature == fresh->kernel.signatures.end())
      throw CompileError(source.file + " has no function '" + function + "'");
    if (foreign::is_cuda(source.file))
      fresh->interpreted = std::make_unique<const foreign::InterpretedCuda>(fresh->kernel, *signature, target);
    else
      fresh->sanitized = std::make_unique<const foreign::SanitizedKernel>(fresh->kernel, *signature);
    last_checked_ = fresh;
    return fresh;
  }

  ModuleCache cache_;
  mutable codegen::ObjectCache init_objects_;
  mutable std::mutex checking_;
  mutable std::shared_ptr<const CheckedKernel> last_checked_;
};

}  // namespace

std::unique_ptr<const Compiler> make_compiler(ModuleCache cache) {
  return std::make_unique<LlvmCompiler>(std::move(cache));
}

}  // namespace ferry
