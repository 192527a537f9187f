// Compiles the functions of a text that a user named, or shows what they become on the way to machine code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kernel/compile_kernel.h"

namespace ferry {

// The stages, and their names for users. The names of source texts are those of the targets that they are for.
#define FERRY_STAGES(X)   \
  X(graph, "graph")       \
  X(groups, "groups")     \
  X(schedule, "schedule") \
  X(space, "space")       \
  X(point, "point")       \
  X(loops, "lower")       \
  X(plan, "plan")         \
  X(c, "c")               \
  X(opencl, "opencl")     \
  X(cuda, "cuda")         \
  X(ptx, "ptx")           \
  X(llvm, "llvm")         \
  X(assembly, "asm")      \
  X(object, "obj")

const char* stage_name(Stage stage);
std::optional<Stage> stage_named(std::string_view name);
std::vector<std::string> stage_names();

// Returns the target to show a stage for where the user names none: that of GPU code, because loops for a CPU would run
// in one thread of one block there; empty for stages of any target.
std::string target_of_stage(Stage stage);

struct TextRequest {
  std::string function = {};            // empty: every function
  std::vector<std::string> sizes = {};  // "M=512,N=512", to choose default schedules by
  CodeForm form = CodeForm::linked;     // as of CompileRequest; of foreign kernels linked
};

// Throws OptionError for a size that no function has, CompileError, and UsageError for a compiled module. The observer
// is told of directives without effect on the target, and of what the module lacks.
CompiledModule compile_text(const KernelSource& source, const TextRequest& request, const Target& target,
                            const Observer& observer = {});
// Throws as above; OptionError (stage) for machine code of a target that has none, for a kernel in another language,
// which only its own compiler can show, for a stage that networks or kernels do not have, and for the space or point of
// a kernel whose schedule the user chose. `after` is as of KernelCompiler::emit().
Emission emit_text(const KernelSource& source, const TextRequest& request, Stage stage, const Target& target,
                   const std::string& after = {}, const Observer& observer = {});

}  // namespace ferry
