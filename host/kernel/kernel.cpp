#include "host/kernel/kernel.h"

#include <algorithm>

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

// Returns false for an object that ferry did not make.
bool take_own_object(const KernelOptions& options, KernelSource& source) {
  const std::string object = read_file(options.file);
  const auto module = expect_compiler(source.compiler, options.file)
                          .module_of_object({reinterpret_cast<const std::uint8_t*>(object.data()), object.size()},
                                            options.file, CodeForm::linked);
  if (!module) return false;
  source.name = options.file;
  source.object.assign(object.begin(), object.end());
  source.module.emplace(*module);
  if (source.schedule || source.unscheduled)
    throw UsageError(source.name + " is compiled already: expected a kernel's text beside a schedule");
  source.text = source.module->source();
  return true;
}

// Takes a compiled module, which is in the file or has been read from it.
void take_module(const KernelOptions& options, bool is_file, KernelSource& source) {
  if (!is_file && !is_module(source.text))
    throw UsageError(source.name + ": expected a " + (ends_with_ferry(options.file) ? "" : "kernel's text or a ") +
                     ".ferry module, got another kind of file");
  try {
    source.module.emplace(is_file ? CompiledModule::open(options.file)
                                  : CompiledModule({source.text.begin(), source.text.end()}));
  } catch (const Error& error) {
    throw UsageError(source.name + ": " + error.what());
  }
  expect_nothing_fixed(options);
  if (source.schedule || source.unscheduled)
    throw UsageError(source.name + " is compiled already: expected a kernel's text beside a schedule");
  source.text = source.module->source();
}

KernelSource read_foreign(const KernelOptions& options, const std::string& other_signature, KernelSource source) {
  source.name = options.file;
  if (source.schedule || source.unscheduled) {
    throw UsageError(source.name + " is computed as it says: a schedule is for kernels in ferry's own notation");
  }
  std::string text = read_file(options.file);
  if (text.find('\0') != std::string::npos) text.clear();  // an object or bitcode
  ForeignSource foreign{options.file, {}, words_of(options.c_flags), text};
  if (!options.signature.empty()) foreign.signatures = {options.signature};
  const Compiler& compiler = expect_compiler(source.compiler, options.file);
  source.foreign_functions = compiler.describe(foreign);
  if (source.foreign_functions.empty() && !other_signature.empty()) {
    foreign.signatures = {other_signature};
    source.foreign_functions = compiler.describe(foreign);
  }
  if (source.foreign_functions.empty()) {
    throw OptionError(Option::signature, source.name +
                                             ": expected a comment '// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] "
                                             "y)' in it, or a signature of this form beside it");
  }
  source.text = std::move(text);
  source.foreign = std::move(foreign);
  return source;
}

KernelSource read_network(const KernelOptions& options, KernelSource source) {
  source.name = options.file;
  if (source.schedule || source.unscheduled)
    throw UsageError(source.name +
                     " is a network, whose kernels have default schedules: expected a kernel's text beside "
                     "a schedule");
  NetworkSource network = network_source(options.file, options.fixed, options.bindings, Option::fixed_size);
  network.winograd = options.winograd;
  network.int8 = options.int8;
  network.max_error = options.max_error;
  source.network = expect_compiler(source.compiler, options.file).read(network);
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
  KernelSource source;
  source.compiler = compiler;
  source.unscheduled = options.schedule.file == kUnscheduled;
  source.schedule = read_schedule(options.schedule);
  if (!options.expression.empty() && !options.file.empty()) {
    throw OptionError(Option::kernel, "expected one kernel, got a text and the file '" + options.file + "'");
  }
  if (!options.expression.empty()) {
    source.name = options.expression_name;
    source.text = options.expression;
  } else if (options.file.empty()) {
    throw OptionError(Option::kernel, "expected a kernel: a file, '-' for stdin, or a text");
  } else if (is_network(options.file)) {
    return read_network(options, std::move(source));
  } else if (is_foreign(options.file)) {
    expect_nothing_fixed(options);
    if (options.signature.empty() && options.file.ends_with(".o") && take_own_object(options, source)) return source;
    return read_foreign(options, other_signature, std::move(source));
  } else {
    source.name = options.file == "-" ? "stdin" : options.file;
    const bool is_file = is_module_file(options.file);
    if (!is_file) source.text = read_file(options.file);
    if (is_file || ends_with_ferry(options.file) || source.text.find('\0') != std::string::npos) {
      take_module(options, is_file, source);
      return source;
    }
  }
  source.fixed = parse_sizes(options.fixed, Option::fixed_size);
  source.debug = options.debug;
  source.programs = lang::parse(source.text, source.name, options.debug, {source.fixed.begin(), source.fixed.end()});
  for (const lang::Program& program : source.programs) {
    for (const std::string& warning : program.warnings) observer.tell(warning);
  }
  return source;
}

FunctionInfo function_of(const KernelSource& source, const std::string& function) {
  if (source.foreign) return choose(source.foreign_functions, function, source.name);
  if (source.module) return choose_function(source.module->manifest(), function, source.name);
  if (source.network) return choose(std::vector{source.network->function()}, function, source.name);
  const lang::Program& program = choose_program(source, function);
  return expect_compiler(source.compiler, source.name).describe(program);
}

std::string signature_of(const KernelSource& source, const std::string& function) {
  return signature_text(function_of(source, function));
}

bool has_definition(const KernelSource& source) {
  // A module compiled by ferry from its own notation always contains the schedule.
  return !source.programs.empty() || (source.module && !source.module->schedule().empty() && !source.text.empty());
}

bool may_leave_tensors(const KernelSource& source) {
  return source.foreign.has_value() || (source.module && source.module->schedule().empty());
}

InputRange input_range(const CompiledModule& module) {
  if (!module.schedule().empty()) return InputRange::narrow;
  // A network has no schedule either, but steps.
  const bool is_linked = std::ranges::all_of(
      module.manifest().functions, [](const FunctionInfo& function) { return native_code(function).has_value(); });
  return is_linked ? InputRange::full : InputRange::narrow;
}

InputRange input_range(const KernelSource& source) {
  if (source.module) return input_range(*source.module);
  return source.foreign ? InputRange::full : InputRange::narrow;
}

InputRange input_range(const KernelSource& a, const std::optional<KernelSource>& b) {
  return input_range(a) == InputRange::full || !b ? input_range(a) : input_range(*b);
}

const lang::Program& choose_program(const KernelSource& source, const std::string& function) {
  if (source.foreign || source.network) {
    throw OptionError(Option::reference, source.name + kNoDefinition);
  }
  return choose(source.programs, function, source.name);
}

const FunctionInfo& choose_function(const Manifest& manifest, const std::string& function, const std::string& file) {
  return choose(manifest.functions, function, file);
}

lang::Program program_of(const KernelSource& source, const std::string& function) {
  if (!source.module) return choose_program(source, function);
  if (source.text.empty()) throw UsageError(source.name + " carries no source to check against");
  try {
    const lang::Program program = choose(lang::parse(source.text, source.name), function, source.name);
    const FunctionInfo& compiled = choose_function(source.module->manifest(), function, source.name);
    const lang::FixedSizes fixed = fixed_in(compiled, program);
    if (fixed.empty()) return program;
    return choose(lang::parse(source.text, source.name, false, fixed), function, source.name);
  } catch (const CompileError& error) {
    throw OptionError(Option::reference, source.name + kNoDefinition + "\n" + error.what());
  }
}

}  // namespace ferry
