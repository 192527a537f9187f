// The schedules that tuning has found for the functions of a text.
#pragma once

#include <span>
#include <vector>

#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "ferry/lang/program.h"
#include "host/kernel/kernel.h"

namespace ferry {

// Whether KernelSource::tuned has a say: it is given, and the user chose neither a point nor the value of a knob.
bool takes_tuned(const KernelSource& source);

// Returns what is known for these programs of a text at these sizes: for code with the sizes fixed, where all of a
// program's are known, and for code for any sizes. The observer is told of each.
std::vector<TunedFunction> tuned_functions(const KernelSource& source, std::span<const lang::Program> programs,
                                           const SizesByName& sizes, const Target& target,
                                           const Observer& observer = {});

// Returns the sizes of a call of a program, also those that are in files, which are read for it. Throws as plan_call().
SizesByName sizes_of_call(const KernelSource& source, const lang::Program& program, const CallOptions& call);

}  // namespace ferry
