#include "host/cli/options/kernel.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "crosscompile/compile.h"
#include "host/cli/options/argument_spec.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/schedule_notes.h"
#include "host/cli/options/size_hints.h"
#include "host/cli/output/format.h"
#include "host/cli/output/progress.h"
#include "host/lang/text/text.h"
#include "host/lower/lower.h"
#include "host/npy/whole_file.h"
#include "host/schedule/module_schedule.h"
#include "host/session/bind.h"

namespace ferry::cli {

namespace {

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
  if (name.empty()) throw UsageError(file + " has several functions: choose with --fn one of: " + join(", ", names));
  throw UsageError(file + " has no function '" + name + "'; expected one of: " + join(", ", names));
}

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

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
  throw UsageError("--fix " + options.fixed.front() + ": expected a kernel in ferry's own notation, got " +
                   options.file);
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
  const auto module =
      module_of_object({reinterpret_cast<const std::uint8_t*>(object.data()), object.size()}, options.file);
  if (!module) return false;
  source.name = options.file;
  source.module.emplace(*module);
  if (source.schedule || source.unscheduled)
    throw UsageError(source.name + " is compiled already: expected a kernel's text beside a schedule");
  source.text = source.module->source();
  return true;
}

KernelSource read_foreign(const KernelOptions& options, const std::string& other_signature, KernelSource source) {
  source.name = options.file;
  if (source.schedule || source.unscheduled) {
    throw UsageError(source.name + " is computed as it says: a schedule is for kernels in ferry's own notation");
  }
  std::string text = read_file(options.file);
  if (text.find('\0') != std::string::npos) text.clear();  // an object or bitcode
  std::vector<std::string> signatures = {options.signature};
  if (options.signature.empty()) signatures = foreign::signatures_in_source(text);
  if (signatures.empty() && !other_signature.empty()) signatures = {other_signature};
  if (signatures.empty()) {
    throw UsageError(source.name +
                     ": expected --signature 'saxpy(f32 a, in f32[n] x, inout f32[n] y)', or a comment "
                     "'// ferry: saxpy(...)' in it");
  }
  source.text = text;
  source.foreign.emplace();
  source.foreign->file = options.file;
  source.foreign->flags = words_of(options.c_flags);
  source.foreign->source = std::move(text);
  for (const std::string& signature : signatures)
    source.foreign->signatures.push_back(foreign::parse_signature(signature));
  return source;
}

}  // namespace

void add_kernel_options(CLI::App& command, KernelOptions& options, const char* file_help) {
  command.add_option("kernel", options.file, file_help)->type_name("FILE");
  command.add_option("-e,--expression", options.expression, "The kernel's text, instead of a file")->type_name("TEXT");
  command.add_flag("-g", options.debug, "Let debuggers and reports of crashes know the lines of the source");
  command.add_option("--fn", options.function, "The function to take, where there are several")->type_name("NAME");
  command
      .add_option("--fix", options.fixed,
                  "Compile for these sizes alone: M=512,N=512. Nothing is left to be found out during the call")
      ->type_name("NAME=SIZE")
      ->type_size(1)
      ->allow_extra_args(false);
  add_schedule_options(command, options.schedule);
  add_compile_deadline(command, options.deadline);
}

void add_foreign_options(CLI::App& command, KernelOptions& options) {
  command
      .add_option("--signature", options.signature,
                  "How to call a kernel in C, C++, LLVM IR or an object: 'saxpy(f32 a, in f32[n] x, inout f32[n] y)';\n"
                  "or a comment '// ferry: saxpy(...)' in the file")
      ->type_name("TEXT");
  command.add_option("--cflags", options.c_flags, "More options for clang, which compiles it")->type_name("FLAGS");
}

void add_kernel_pair_options(CLI::App& command, KernelOptions& a, KernelOptions& b) {
  command.add_option("A", a.file, "One kernel: K.tc, K.c, K.cpp, K.ll, K.o or a compiled K.ferry")
      ->type_name("FILE")
      ->required();
  command.add_option("B", b.file, "The other one")->type_name("FILE")->required();
  command.add_option("--fn-a", a.function, "The function to take of A, where there are several")->type_name("NAME");
  command.add_option("--fn-b", b.function, "The function to take of B, where there are several")->type_name("NAME");
  command.add_option("--schedule-a", a.schedule.file, "How A is to be computed")->type_name("FILE");
  command.add_option("--schedule-b", b.schedule.file, "How B is to be computed")->type_name("FILE");
  add_compile_deadline(command, a.deadline);
}

KernelSource read_kernel(const KernelOptions& options, const std::string& other_signature) {
  if (options.file == "-" && options.schedule.file == "-")
    throw UsageError("expected stdin once: '-' as the kernel or as its schedule");
  KernelSource source;
  source.deadline = options.deadline;
  source.unscheduled = options.schedule.file == kUnscheduled;
  source.schedule = read_schedule(options.schedule);
  if (!options.expression.empty() && !options.file.empty()) {
    throw UsageError("expected one kernel: -e TEXT, or the file '" + options.file + "'");
  }
  if (!options.expression.empty()) {
    source.name = "-e";
    source.text = options.expression;
  } else if (options.file.empty()) {
    throw UsageError("expected a kernel: a file, '-' for stdin, or -e TEXT");
  } else if (foreign::is_foreign(options.file)) {
    expect_nothing_fixed(options);
    if (options.signature.empty() && options.file.ends_with(".o") && take_own_object(options, source)) return source;
    return read_foreign(options, other_signature, std::move(source));
  } else {
    source.name = options.file == "-" ? "stdin" : options.file;
    source.text = read_file(options.file);
    if (ends_with_ferry(options.file) || source.text.find('\0') != std::string::npos) {
      try {
        source.module.emplace(std::vector<std::uint8_t>(source.text.begin(), source.text.end()));
      } catch (const RemoteError& error) {
        throw UsageError(source.name + ": " + error.what());
      }
      expect_nothing_fixed(options);
      if (source.schedule || source.unscheduled)
        throw UsageError(source.name + " is compiled already: expected a kernel's text beside a schedule");
      source.text = source.module->source();
      return source;
    }
  }
  const std::map<std::string, std::int64_t> fixed = parse_sizes(options.fixed, "--fix");
  source.programs = lang::parse(source.text, source.name, options.debug, {fixed.begin(), fixed.end()});
  for (const lang::Program& program : source.programs) {
    for (const std::string& warning : program.warnings) fprintf(stderr, "ferry: %s\n", warning.c_str());
  }
  return source;
}

FunctionInfo function_of(const KernelSource& source, const std::string& function) {
  if (source.foreign) {
    std::vector<FunctionInfo> functions;
    for (const foreign::Signature& signature : source.foreign->signatures) functions.push_back(signature.function);
    return choose(functions, function, source.name);
  }
  if (source.module) return choose_function(source.module->manifest(), function, source.name);
  const lang::Program& program = choose_program(source, function);
  return describe(lower::lower(program, schedule::Schedule(program)));
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

const lang::Program& choose_program(const KernelSource& source, const std::string& function) {
  if (source.foreign) {
    throw UsageError(
        source.name +
        " is not in ferry's own notation, so there is nothing to check it against: expected no --check, or "
        "--check-against and a kernel that computes the same");
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
    throw UsageError(source.name +
                     " was not compiled of a kernel in ferry's own notation, so there is nothing to check "
                     "it against: expected no --check, or --check-against and a kernel that computes the same\n" +
                     error.what());
  }
}

namespace {

void expect_possible(std::span<const lang::Program> programs, const schedule::Sizes& sizes) {
  if (sizes.empty()) return;
  for (const lang::Program& program : programs) {
    const FunctionInfo info = describe(lower::lower(program, schedule::Schedule(program)));
    session::SymbolValues known(info.symbols.size());
    for (std::size_t s = 0; s < known.size(); ++s) {
      if (const auto size = sizes.find(info.symbols[s]); size != sizes.end()) known[s] = size->second;
    }
    session::check_sizes(info, known);
  }
}

}  // namespace

std::vector<schedule::Schedule> schedules_of(const KernelSource& source, std::span<const lang::Program> programs,
                                             const Target& target, const schedule::Sizes& sizes) {
  expect_possible(programs, sizes);
  if (source.unscheduled) return {programs.begin(), programs.end()};
  if (!source.schedule) return schedule::default_schedules(programs, target, sizes);
  std::vector<std::string> names;
  for (const lang::Program& program : source.programs) names.push_back(program.name);
  std::vector<schedule::Schedule> schedules =
      schedule::replay_module_schedule(programs, *source.schedule, target, names, sizes);
  print_schedule_notes(programs, schedules, target);
  return schedules;
}

CompiledKernel compile_kernel(const KernelSource& source, const std::string& function, const Target& target,
                              const CallOptions& call, std::uint32_t code_padding) {
  if (source.module) return {*source.module};
  const CompileDeadline deadline(source.deadline, source.name);
  if (source.foreign) {
    const Progress progress("compiling " + source.name);
    const auto begin = std::chrono::steady_clock::now();
    CompiledModule module(foreign::compile_foreign(*source.foreign, target, code_padding));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return {std::move(module), took.count()};
  }
  const lang::Program& program = choose_program(source, function);
  const Progress progress("compiling " + program.name);
  const auto start = std::chrono::steady_clock::now();
  const std::span programs(&program, 1);
  CompiledModule module = compile(programs, schedules_of(source, programs, target, size_hints(program, call)), target,
                                  source.text, code_padding);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(module), elapsed.count()};
}

std::string read_file(const std::string& name) {
  const std::unique_ptr<FILE, CloseFile> opened(name == "-" ? nullptr : fopen(name.c_str(), "rb"));
  FILE* file = name == "-" ? stdin : opened.get();
  if (file == nullptr) throw UsageError("cannot read '" + name + "': " + strerror(errno));
  std::string content;
  char piece[65536];
  while (const std::size_t count = fread(piece, 1, sizeof piece, file)) content.append(piece, count);
  if (ferror(file) != 0) throw UsageError("cannot read '" + name + "': " + strerror(errno));
  return content;
}

void write_file(const std::string& name, const void* bytes, std::size_t count) {
  const int failed = npy::write_whole_file(name, {static_cast<const std::uint8_t*>(bytes), count});
  // The reader of the output may close the pipe early.
  if (failed != 0 && (name != "-" || failed != EPIPE)) {
    throw UsageError("cannot write " + (name == "-" ? "the output" : "'" + name + "'") + ": " + strerror(failed));
  }
}

}  // namespace ferry::cli
