// Compiles a kernel that a user named for the device that is to run it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"

namespace ferry {

// Returns the target that the user typed, or that of the device if the text is empty. A compiled module determines it
// if it is for a GPU, or if there is no compiler. The observer is told of keys that are ignored.
Target target_for(const DeviceFacts& facts, const std::string& text, const KernelSource& source,
                  const Observer& observer = {});
Target target_for(const Device& device, const std::string& text, const KernelSource& source,
                  const Observer& observer = {});
Target resolve_with_notes(const TargetResolver& targets, const std::string& text, const Observer& observer);
// Returns the target of the device's first GPU for CUDA, or of any where the device does not say which it has.
Target cuda_target(const TargetResolver& targets, const DeviceFacts& facts);
// Returns the devices besides the CPU that a kernel runs on, in the form of ConnectOptions: those of the target, or
// without one those that a compiled module needs.
std::vector<std::string> devices_for(const std::string& target, const KernelSource& source);

// For ConnectOptions of the session that runs the kernel: empty where there is no compiler, which is null then.
SourceLine source_line_of(const CodeTools* tools);

// Returns these programs of the kernel with the user's schedule, or the default for these sizes. The programs must
// outlive the result. Throws Error with invalid_argument for sizes that no call can have, with the message of the
// call's own check.
Scheduled scheduled(const KernelSource& source, std::span<const lang::Program> programs, const SizesByName& sizes = {});
// The same with what KernelSource::tuned knows for these sizes, of which the observer is told.
Scheduled scheduled(const KernelSource& source, std::span<const lang::Program> programs, const SizesByName& sizes,
                    const Target& target, const Observer& observer = {});

struct CompiledKernel {
  CompiledModule module;
  double compile_ms = 0;                       // 0 for a module from a file
  std::vector<std::string> module_notes = {};  // as of Compiled, for who keeps the module
  std::vector<TunedFunction> tuned = {};       // schedules of a text that were known for the call
};

// Compiles the chosen def of a text, with the default schedule for the sizes known from the call unless the user gives
// one, or KernelSource::tuned knows a better one for the call: of this the observer is told. form: as of
// CompileRequest. Modules that are linked already stay so: can_relink() is false for them.
CompiledKernel compile_kernel(const KernelSource& source, const std::string& function, const Target& target,
                              const CallOptions& call, const Observer& observer = {}, CodeForm form = CodeForm::linked);

}  // namespace ferry
