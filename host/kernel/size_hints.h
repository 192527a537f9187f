// The sizes that a call's arguments determine before compilation, for choosing the default schedule.
#pragma once

#include "ferry/lang/program.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/call_plan.h"

namespace ferry {

// Takes sizes from the given sizes, from numbers among the arguments and from the shapes of tensors, also of those in
// files. Mismatches, and files that cannot be read, are left to plan_call() to reject.
SizesByName size_hints(const lang::Program& program, const CallOptions& options);
// The same for a function of which no program is known.
SizesByName size_hints(const FunctionInfo& function, const CallOptions& options);

}  // namespace ferry
