// The kernel a subcommand works on: text to compile, or a module that is compiled already.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "host/cli/call_setup.h"
#include "host/cli/schedule_option.h"
#include "host/lang/program.h"
#include "host/schedule/schedule.h"
#include "host/schedule/sized_stages.h"
#include "host/session/ferry.h"

namespace ferry::cli {

struct KernelOptions {
  std::string file;        // "-": stdin
  std::string expression;  // instead of a file
  std::string function;    // empty: the only one
  ScheduleOptions schedule;
  std::string signature = {};           // of a kernel that ferry did not write
  std::string c_flags = {};             // for its compiler, separated by spaces
  std::vector<std::string> fixed = {};  // NAME=SIZE
  bool debug = false;                   // with the lines of the source
  double deadline = 0;                  // seconds for compiling it; 0: none
};

// K.tc|K.ferry|-, -e TEXT, --fn F, and the schedule's.
void add_kernel_options(CLI::App& command, KernelOptions& options, const char* file_help);

// --signature and --cflags, for the commands that take kernels of any kind.
void add_foreign_options(CLI::App& command, KernelOptions& options);
// Two files, --fn and --fn-b for functions, --schedule-a and --schedule-b.
void add_kernel_pair_options(CLI::App& command, KernelOptions& a, KernelOptions& b);

// Not compiled yet: `module` is set when the file was a .ferry, otherwise `programs` holds every def of the text.
struct KernelSource {
  std::string name;  // for messages
  std::string text;  // the source; of a module the one that it carries, perhaps empty
  std::vector<lang::Program> programs;
  std::optional<ScheduleText> schedule;  // nothing: the default ones
  bool unscheduled = false;              // serial loops in the written order instead
  std::optional<CompiledModule> module;
  std::optional<foreign::ForeignKernel> foreign;  // C, C++, LLVM IR, assembly or an object
  double deadline = 0;                            // seconds for compiling it; 0: none
};
// UsageError, CompileError, or RemoteError for a module that is corrupt. A foreign kernel without a signature of its
// own, on the command line or in a comment "ferry: ...", takes `other_signature`.
KernelSource read_kernel(const KernelOptions& options, const std::string& other_signature = {});
// The function it would take, as it will be compiled.
FunctionInfo function_of(const KernelSource& source, const std::string& function);
std::string signature_of(const KernelSource& source, const std::string& function);
// Whether it was written in ferry's own notation, so that there is a definition to compute its results from.
bool has_definition(const KernelSource& source);
// Whether nothing but its author's care keeps it inside of its tensors.
bool may_leave_tensors(const KernelSource& source);

// The def of this name, or the only one.
const lang::Program& choose_program(const KernelSource& source, const std::string& function);
// The function of this name, or the only one.
const FunctionInfo& choose_function(const Manifest& manifest, const std::string& function, const std::string& file);
// The def that a function came from, to compute its results another way: of the text, or of the text a module carries.
lang::Program program_of(const KernelSource& source, const std::string& function);

// Of these programs of the kernel, one each: the user's, or the default. RemoteError with invalid_argument for sizes
// that no call can have, in the words of the call's own check.
std::vector<schedule::Schedule> schedules_of(const KernelSource& source, std::span<const lang::Program> programs,
                                             const Target& target, const schedule::Sizes& sizes = {});

struct CompiledKernel {
  CompiledModule module;
  double compile_ms = 0;  // 0 for a module from a file
};
// Of a text, only the chosen def.
// With the default schedule for the sizes that the call tells of. code_padding moves the code by so many bytes; it does
// nothing to a module that is compiled already.
CompiledKernel compile_kernel(const KernelSource& source, const std::string& function, const Target& target,
                              const CallOptions& call, std::uint32_t code_padding = 0);

// The bytes of a file, or of stdin for "-". UsageError says why it cannot be read.
std::string read_file(const std::string& name);
// Replaces the file once all of it is written; "-" is standard output. UsageError says why it cannot be written.
void write_file(const std::string& name, const void* bytes, std::size_t count);

}  // namespace ferry::cli
