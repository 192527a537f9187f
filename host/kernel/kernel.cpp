#include "host/kernel/kernel.h"

#include <algorithm>

#include "base/overloaded.h"
#include "base/quantity_text.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/kernel/option_error.h"
#include "ferry/lang/text.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/file.h"
#include "host/kernel/network_source.h"

namespace ferry {

namespace {

constexpr const char* kNoDefinition =
    " is not in ferry's own notation and defines nothing to check it against: expected a kernel that computes the same";

bool ends_with_ferry(const std::string& name) { return name.size() > 6 && name.ends_with(".ferry"); }

// Returns the element with this name, or the only one.
template <class T>
const T& choose(const std::vector<T>& all, const std::string& name, const std::string& file) {
  std::vector<std::string> names;
  for (const T& one : all) {
    if (one.name == name || (name.empty() && all.size() == 1)) return one;
    names.push_back(one.name);
  }
  if (all.empty()) throw UsageError(file + " defines no function");
  if (name.empty())
    throw OptionError(Option::function, file + " has several functions; expected one of: " + join(", ", names));
  throw UsageError(file + " has no function '" + name + "'; expected one of: " + join(", ", names));
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = text.find(' ', at);
    words.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? end : text.find_first_not_of(' ', end);
  }
  return words;
}

void expect_nothing_fixed(const KernelOptions& options) {
  if (options.fixed.empty()) return;
  throw OptionError(Option::fixed_size,
                    options.fixed.front() + ": expected a kernel in ferry's own notation, got " + options.file);
}

// Returns the sizes to which the module was specialised.
lang::FixedSizes fixed_in(const FunctionInfo& compiled, const lang::Program& program) {
  lang::FixedSizes fixed;
  for (std::size_t p = 0; p < std::min(compiled.parameters.size(), program.parameters.size()); ++p) {
    const lang::Parameter& parameter = program.parameters[p];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    const lang::Tensor& tensor = parameter.direction == Direction::inout ? parameter.initial : parameter.tensor;
    const std::vector<ManifestExpr>& shape = compiled.parameters[p].shape;
    for (std::size_t d = 0; d < std::min(shape.size(), tensor.shape().size()); ++d) {
      const auto* size = tensor.shape()[d].as<ir::Var>();
      if (size != nullptr && shape[d].code.size() == 1 && shape[d].code[0].op == ManifestOp::constant)
        fixed.emplace(size->name, shape[d].code[0].value);
    }
  }
  return fixed;
}

// The user's choice of a schedule, which only a text may have.
struct ChosenSchedule {
  std::optional<ScheduleText> text;
  bool unscheduled = false;
  std::optional<PointText> point = {};

  void expect_none(const std::string& refusal) const {
    if (text || unscheduled || point) throw UsageError(refusal);
  }
};

KernelSource compiled_source(KernelSource source, ModuleKernel kernel, const ChosenSchedule& schedule) {
  schedule.expect_none(source.name + " is compiled already: expected a kernel's text beside a schedule");
  source.text = kernel.module.source();
  source.kind = std::move(kernel);
  return source;
}

// Returns nothing for an object that ferry did not make.
std::optional<KernelSource> read_ferry_object(const KernelOptions& options, const ChosenSchedule& schedule,
                                              KernelSource source) {
  const std::string object = read_file(options.file);
  const auto module = expect_compiler(source.compiler, options.file)
                          .module_of_object({reinterpret_cast<const std::uint8_t*>(object.data()), object.size()},
                                            options.file, CodeForm::linked);
  if (!module) return std::nullopt;
  source.name = options.file;
  return compiled_source(std::move(source), {CompiledModule(*module), {object.begin(), object.end()}}, schedule);
}

// Reads a compiled module, which is in the file or has been read from it.
KernelSource read_compiled(const KernelOptions& options, bool is_file, const ChosenSchedule& schedule,
                           KernelSource source) {
  if (!is_file && !is_module(source.text))
    throw UsageError(source.name + ": expected a " + (ends_with_ferry(options.file) ? "" : "kernel's text or a ") +
                     ".ferry module, got another kind of file");
  std::optional<CompiledModule> module;
  try {
    module.emplace(is_file ? CompiledModule::open(options.file)
                           : CompiledModule({source.text.begin(), source.text.end()}));
  } catch (const Error& error) {
    throw UsageError(source.name + ": " + error.what());
  }
  expect_nothing_fixed(options);
  return compiled_source(std::move(source), {std::move(*module)}, schedule);
}

void expect_no_launch(const KernelOptions& options) {
  if (options.launch.empty() || is_cuda_source(options.file)) return;
  throw OptionError(Option::launch, "expected a kernel in CUDA C (.cu) beside a launch, got " +
                                        (options.file.empty() ? options.expression_name : options.file));
}

KernelSource read_foreign(const KernelOptions& options, const std::string& other_signature,
                          const ChosenSchedule& schedule, KernelSource source) {
  source.name = options.file;
  schedule.expect_none(source.name + " is computed as it says: a schedule is for kernels in ferry's own notation");
  std::string text = read_file(options.file);
  if (text.find('\0') != std::string::npos) text.clear();  // an object or bitcode
  ForeignSource foreign{options.file, {}, words_of(options.c_flags), text};
  foreign.launch = options.launch;
  if (!options.signature.empty()) foreign.signatures = {options.signature};
  const Compiler& compiler = expect_compiler(source.compiler, options.file);
  std::vector<ForeignFunction> functions = compiler.describe(foreign);
  if (functions.empty() && !other_signature.empty()) {
    foreign.signatures = {other_signature};
    functions = compiler.describe(foreign);
  }
  if (functions.empty()) {
    throw OptionError(Option::signature, source.name +
                                             ": expected a comment '// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] "
                                             "y)' in it, or a signature of this form beside it");
  }
  source.text = std::move(text);
  ForeignKernel kernel{std::move(foreign), {}, {}};
  for (ForeignFunction& function : functions) {
    if (is_cuda_source(options.file) && !function.has_launch)
      throw OptionError(Option::launch, source.name +
                                            ": expected 'grid=(n + 255) / 256, block=256' behind the signature of " +
                                            function.info.name + ", or a launch of this form beside it");
    kernel.functions.push_back(std::move(function.info));
    kernel.signatures.push_back(std::move(function.signature));
  }
  source.kind = std::move(kernel);
  return source;
}

KernelSource read_network(const KernelOptions& options, const ChosenSchedule& schedule, KernelSource source) {
  source.name = options.file;
  schedule.expect_none(source.name +
                       " is a network, whose kernels have default schedules: expected a kernel's text beside "
                       "a schedule");
  NetworkSource network = network_source(options.file, options.fixed, options.bindings, Option::fixed_size);
  network.winograd = options.winograd;
  network.int8 = options.int8;
  network.max_error = options.max_error;
  source.kind = NetworkKernel{expect_compiler(source.compiler, options.file).read(network)};
  return source;
}

}  // namespace

KernelSource read_kernel(const Compiler* compiler, const KernelOptions& options, const Observer& observer,
                         const std::string& other_signature) {
  if (options.file == "-" && options.schedule.file == "-")
    throw UsageError("expected stdin once: '-' as the kernel or as its schedule");
  if (!options.bindings.empty() && !is_network(options.file)) {
    throw OptionError(Option::binding, options.bindings.front() + ": expected a network, got " +
                                           (options.file.empty() ? options.expression_name : options.file));
  }
  expect_no_launch(options);
  KernelSource source;
  source.compiler = compiler;
  ChosenSchedule schedule{read_schedule(options.schedule), options.schedule.file == kUnscheduled,
                          read_point(options.schedule)};
  if (!options.expression.empty() && !options.file.empty()) {
    throw OptionError(Option::kernel, "expected one kernel, got a text and the file '" + options.file + "'");
  }
  if (!options.expression.empty()) {
    source.name = options.expression_name;
    source.text = options.expression;
  } else if (options.file.empty()) {
    throw OptionError(Option::kernel, "expected a kernel: a file, '-' for stdin, or a text");
  } else if (is_network(options.file)) {
    return read_network(options, schedule, std::move(source));
  } else if (is_foreign(options.file)) {
    expect_nothing_fixed(options);
    if (options.signature.empty() && options.file.ends_with(".o"))
      if (auto module = read_ferry_object(options, schedule, source)) return std::move(*module);
    return read_foreign(options, other_signature, schedule, std::move(source));
  } else {
    source.name = options.file == "-" ? "stdin" : options.file;
    const bool is_file = is_module_file(options.file);
    if (!is_file) source.text = read_file(options.file);
    if (is_file || ends_with_ferry(options.file) || source.text.find('\0') != std::string::npos)
      return read_compiled(options, is_file, schedule, std::move(source));
  }
  TextKernel text;
  text.fixed = parse_sizes(options.fixed, Option::fixed_size);
  text.debug = options.debug;
  text.schedule = std::move(schedule.text);
  text.unscheduled = schedule.unscheduled;
  text.point = std::move(schedule.point);
  text.programs = lang::parse(source.text, source.name, options.debug, {text.fixed.begin(), text.fixed.end()});
  for (const lang::Program& program : text.programs) {
    for (const std::string& warning : program.warnings) observer.tell(warning);
  }
  source.kind = std::move(text);
  return source;
}

KernelSource with_fixed_sizes(const KernelSource& source, const SizesByName& sizes) {
  KernelSource fixed = source;
  TextKernel& text = *fixed.as_text();
  text.fixed.insert(sizes.begin(), sizes.end());
  text.programs = lang::parse(source.text, source.name, text.debug, {text.fixed.begin(), text.fixed.end()});
  return fixed;
}

FunctionInfo function_of(const KernelSource& source, const std::string& function) {
  return std::visit(
      Overloaded{
          [&](const TextKernel&) {
            return expect_compiler(source.compiler, source.name).describe(choose_program(source, function));
          },
          [&](const ForeignKernel& kernel) { return choose(kernel.functions, function, source.name); },
          [&](const NetworkKernel& kernel) {
            return choose(std::vector{kernel.network->function()}, function, source.name);
          },
          [&](const ModuleKernel& kernel) { return choose_function(kernel.module.manifest(), function, source.name); }},
      source.kind);
}

std::string signature_of(const KernelSource& source, const std::string& function) {
  const FunctionInfo info = function_of(source, function);
  const ForeignKernel* foreign = source.as_foreign();
  if (foreign == nullptr) return signature_text(info);
  const auto found = std::ranges::find(foreign->functions, info.name, &FunctionInfo::name);
  return foreign->signatures.at(static_cast<std::size_t>(found - foreign->functions.begin()));
}

bool has_definition(const KernelSource& source) {
  return std::visit(
      Overloaded{[](const TextKernel& kernel) { return !kernel.programs.empty(); },
                 [](const ForeignKernel&) { return false; }, [](const NetworkKernel&) { return false; },
                 // A module compiled by ferry from its own notation always contains the schedule.
                 [&](const ModuleKernel& kernel) { return !kernel.module.schedule().empty() && !source.text.empty(); }},
      source.kind);
}

bool may_leave_tensors(const KernelSource& source) {
  return std::visit(Overloaded{[](const TextKernel&) { return false; }, [](const ForeignKernel&) { return true; },
                               [](const NetworkKernel&) { return false; },
                               [](const ModuleKernel& kernel) { return kernel.module.schedule().empty(); }},
                    source.kind);
}

InputRange input_range(const CompiledModule& module) {
  if (!module.schedule().empty()) return InputRange::narrow;
  // A network has no schedule either, but more steps than one call or launch.
  const bool is_linked = std::ranges::all_of(module.manifest().functions, [](const FunctionInfo& function) {
    const std::vector<Step>& steps = function.plan.steps;
    return native_code(function).has_value() ||
           (steps.size() == 1 && std::holds_alternative<LaunchStep>(steps.front()));
  });
  return is_linked ? InputRange::full : InputRange::narrow;
}

InputRange input_range(const KernelSource& source) {
  return std::visit(Overloaded{[](const TextKernel&) { return InputRange::narrow; },
                               [](const ForeignKernel&) { return InputRange::full; },
                               [](const NetworkKernel&) { return InputRange::narrow; },
                               [](const ModuleKernel& kernel) { return input_range(kernel.module); }},
                    source.kind);
}

InputRange input_range(const KernelSource& a, const std::optional<KernelSource>& b) {
  return input_range(a) == InputRange::full || !b ? input_range(a) : input_range(*b);
}

const lang::Program& choose_program(const KernelSource& source, const std::string& function) {
  if (source.as_foreign() || source.as_network()) throw OptionError(Option::reference, source.name + kNoDefinition);
  static const std::vector<lang::Program> kNone;
  const TextKernel* text = source.as_text();
  return choose(text != nullptr ? text->programs : kNone, function, source.name);
}

const FunctionInfo& choose_function(const Manifest& manifest, const std::string& function, const std::string& file) {
  return choose(manifest.functions, function, file);
}

lang::Program program_of(const KernelSource& source, const std::string& function) {
  const ModuleKernel* compiled = source.as_module();
  if (compiled == nullptr) return choose_program(source, function);
  if (source.text.empty()) throw UsageError(source.name + " carries no source to check against");
  try {
    const lang::Program program = choose(lang::parse(source.text, source.name), function, source.name);
    const FunctionInfo& info = choose_function(compiled->module.manifest(), function, source.name);
    const lang::FixedSizes fixed = fixed_in(info, program);
    if (fixed.empty()) return program;
    return choose(lang::parse(source.text, source.name, false, fixed), function, source.name);
  } catch (const CompileError& error) {
    throw OptionError(Option::reference, source.name + kNoDefinition + "\n" + error.what());
  }
}

}  // namespace ferry
