// A kernel that a user named, before it is compiled: a text in ferry's notation, a file of another language, a network,
// or a compiled module.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ferry/client.h"
#include "ferry/kernel/kernel_options.h"
#include "ferry/kernel/observer.h"
#include "ferry/kernel/option_error.h"
#include "ferry/lang/program.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/input_content.h"
#include "host/kernel/schedule_choice.h"

namespace ferry {

// A text in ferry's own notation.
struct TextKernel {
  std::vector<lang::Program> programs = {};   // every def
  SizesByName fixed = {};                     // sizes that the programs were specialised for
  bool debug = false;                         // they have source lines
  std::optional<ScheduleText> schedule = {};  // nothing: default schedules
  bool unscheduled = false;                   // use serial loops in source order instead
  std::optional<PointText> point = {};        // for the default schedules
};

// C, C++, LLVM IR, assembly or an object.
struct ForeignKernel {
  ForeignSource source;
  std::vector<FunctionInfo> functions;  // one for each signature
  std::vector<std::string> signatures;  // their texts
};

struct NetworkKernel {
  std::shared_ptr<const Network> network;
};

// A .ferry file, or an object that ferry made.
struct ModuleKernel {
  CompiledModule module;
  Bytes object = {};  // what the module was linked from; empty if it came linked
};

struct KernelSource {
  const Compiler* compiler = nullptr;  // outlives this object; null: only modules can be used
  std::string name;                    // for messages
  std::string text;                    // the source; for a module the one it contains, which may be empty
  std::variant<TextKernel, ForeignKernel, NetworkKernel, ModuleKernel> kind;
  // Schedules that are known for texts and networks, in place of default ones; may be null.
  std::shared_ptr<const TunedSchedules> tuned = {};

  // Return null for a kernel of another kind.
  const TextKernel* as_text() const { return std::get_if<TextKernel>(&kind); }
  TextKernel* as_text() { return std::get_if<TextKernel>(&kind); }
  const ForeignKernel* as_foreign() const { return std::get_if<ForeignKernel>(&kind); }
  const NetworkKernel* as_network() const { return std::get_if<NetworkKernel>(&kind); }
  const ModuleKernel* as_module() const { return std::get_if<ModuleKernel>(&kind); }
};

// Throws Error, with invalid_argument for a mistake of the user. A foreign kernel without a signature of its
// own, in the options or in a comment "ferry: ...", uses `other_signature`. The observer is told of warnings.
KernelSource read_kernel(const Compiler* compiler, const KernelOptions& options, const Observer& observer = {},
                         const std::string& other_signature = {});
// Returns the same text with these sizes fixed too. The kernel must be a text; throws CompileError if the sizes cannot
// be.
KernelSource with_fixed_sizes(const KernelSource& source, const SizesByName& sizes);
// Returns the function that would be chosen, as it will be compiled.
FunctionInfo function_of(const KernelSource& source, const std::string& function);
std::string signature_of(const KernelSource& source, const std::string& function);
// Whether the kernel was written in ferry's own notation, so that its definition can be evaluated.
bool has_definition(const KernelSource& source);
// Whether nothing guarantees that the kernel accesses its tensors in bounds.
bool may_leave_tensors(const KernelSource& source);
// The range of inputs that nobody has described: the whole one for a kernel that ferry did not write.
InputRange input_range(const KernelSource& source);
InputRange input_range(const CompiledModule& module);
// Returns the range from which the inputs of both kernels are drawn; the second may be absent.
InputRange input_range(const KernelSource& a, const std::optional<KernelSource>& b);

// Returns the def with this name, or the only one.
const lang::Program& choose_program(const KernelSource& source, const std::string& function);
// Returns the function with this name, or the only one.
const FunctionInfo& choose_function(const Manifest& manifest, const std::string& function, const std::string& file);
// Returns the def that a function was compiled from, for the reference evaluation: from the text, or from the text in a
// module.
lang::Program program_of(const KernelSource& source, const std::string& function);

}  // namespace ferry
