// The kernel that a subcommand works on: source text, or a compiled module.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "host/cli/options/call_setup.h"
#include "host/cli/options/schedule_option.h"
#include "host/lang/program.h"
#include "host/schedule/schedule.h"
#include "host/schedule/sized_stages.h"
#include "host/session/ferry.h"

namespace ferry::cli {

struct KernelOptions {
  std::string file;        // "-": stdin
  std::string expression;  // instead of a file
  std::string function;    // empty: the only function
  ScheduleOptions schedule;
  std::string signature = {};           // for a kernel that ferry did not write
  std::string c_flags = {};             // for its compiler, separated by spaces
  std::vector<std::string> fixed = {};  // NAME=SIZE
  bool debug = false;                   // with source lines
  double deadline = 0;                  // compile time in seconds; 0: no limit
};

// Adds K.tc|K.ferry|-, -e TEXT, --fn F, and the options of the schedule.
void add_kernel_options(CLI::App& command, KernelOptions& options, const char* file_help);

// Adds --signature and --cflags, for commands that accept kernels of any kind.
void add_foreign_options(CLI::App& command, KernelOptions& options);
// Adds two files, --fn and --fn-b for functions, --schedule-a and --schedule-b.
void add_kernel_pair_options(CLI::App& command, KernelOptions& a, KernelOptions& b);

// A kernel before compilation: `module` is set if the file is a .ferry, otherwise `programs` holds every def of the
// text.
struct KernelSource {
  std::string name;  // for messages
  std::string text;  // the source; for a module the one it contains, which may be empty
  std::vector<lang::Program> programs;
  std::optional<ScheduleText> schedule;  // nothing: default schedules
  bool unscheduled = false;              // use serial loops in source order instead
  std::optional<CompiledModule> module;
  std::optional<foreign::ForeignKernel> foreign;  // C, C++, LLVM IR, assembly or an object
  double deadline = 0;                            // compile time in seconds; 0: no limit
};
// Throws UsageError, CompileError, or RemoteError for a corrupt module. A foreign kernel without a signature of its
// own, on the command line or in a comment "ferry: ...", uses `other_signature`.
KernelSource read_kernel(const KernelOptions& options, const std::string& other_signature = {});
// Returns the function that would be chosen, as it will be compiled.
FunctionInfo function_of(const KernelSource& source, const std::string& function);
std::string signature_of(const KernelSource& source, const std::string& function);
// Whether the kernel was written in ferry's own notation, so that its definition can be evaluated.
bool has_definition(const KernelSource& source);
// Whether nothing guarantees that the kernel accesses its tensors in bounds.
bool may_leave_tensors(const KernelSource& source);

// Returns the def with this name, or the only one.
const lang::Program& choose_program(const KernelSource& source, const std::string& function);
// Returns the function with this name, or the only one.
const FunctionInfo& choose_function(const Manifest& manifest, const std::string& function, const std::string& file);
// Returns the def that a function was compiled from, for the reference evaluation: from the text, or from the text in a
// module.
lang::Program program_of(const KernelSource& source, const std::string& function);

// Returns one schedule for each of these programs of the kernel: the user's, or the default. Throws RemoteError with
// invalid_argument for sizes that no call can have, with the message of the call's own check.
std::vector<schedule::Schedule> schedules_of(const KernelSource& source, std::span<const lang::Program> programs,
                                             const Target& target, const schedule::Sizes& sizes = {});

struct CompiledKernel {
  CompiledModule module;
  double compile_ms = 0;  // 0 for a module from a file
};
// Compiles the chosen def of a text, with the default schedule for the sizes known from the call unless the user gives
// one. code_padding shifts the code by this many bytes; it has no effect on a module that is compiled already.
CompiledKernel compile_kernel(const KernelSource& source, const std::string& function, const Target& target,
                              const CallOptions& call, std::uint32_t code_padding = 0);

// Returns the bytes of a file, or of stdin for "-". Throws UsageError that says why it cannot be read.
std::string read_file(const std::string& name);
// Replaces the file once everything has been written; "-" is standard output. Throws UsageError that says why it cannot
// be written.
void write_file(const std::string& name, const void* bytes, std::size_t count);

}  // namespace ferry::cli
