// A kernel with the schedule that tuning has found for a call.
#pragma once

#include <string>

#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/kernel.h"

namespace ferry {

struct TunedCall {
  KernelSource source;
  CallOptions call;
};

// Returns the kernel with the schedule that TextKernel::tuned knows for this call: a point of the default schedule's
// space, or values for the knobs of the user's own. If it was tuned for fixed sizes, the code is for this call alone,
// and the options of the call name no sizes. The observer is told of it. Where nothing is known, or the user chose a
// point or a knob's value, kernel and call are returned as they are. Throws as plan_call().
TunedCall tuned_for(const KernelSource& source, const std::string& function, const Target& target,
                    const CallOptions& call, const Observer& observer = {});

// Gives the kernel the schedule that is known for the code of one of its programs, where `sizes` are those that are
// known and not fixed. Returns whether there is one.
bool take_tuned(const Compiler& compiler, TextKernel& kernel, const lang::Program& program, const SizesByName& sizes,
                const Target& target, const Observer& observer = {});

}  // namespace ferry
