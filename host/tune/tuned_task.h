// What is tuned: one function with the sizes of a call, for one kind of device.
#pragma once

#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"
#include "host/tune/builder/builder.h"
#include "host/tune/records/tune_record.h"
#include "host/tune/search/search.h"
#include "host/tune/tune.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

struct TunedTask {
  KernelSource source;  // with the sizes fixed, unless they are to stay open
  std::string function;
  Target target;
  CallOptions call;
  SizesByName sizes;                    // the call's
  SizesByName open_sizes;               // those of them that are not fixed
  std::vector<std::string> fixed = {};  // names of the others
  TaskKey key;
  std::map<std::string, std::vector<std::string>> knobs = {};  // the user's own schedule has them; with their choices

  // Throws CompileError for a point that cannot be compiled. Without values it is the default.
  ModuleBytes compile(const PointInOrder& point) const;
  // Returns the space at a point; nothing if the space does not have it. It is that of the default schedule, or the
  // knobs of the user's own.
  std::optional<SpacePoint> space_at(const PointValues& values) const;
  std::optional<SpacePoint> space_at(const PointInOrder& point) const;
  // Returns the cost model's cycles of a call at a point; nothing where it has none, as with open sizes.
  std::optional<double> cycles_at(const SpacePoint& point) const;
  // Likewise, with the machine code's cycles of computing (KernelCompiler::code_cycles()).
  std::optional<double> code_cycles_at(const SpacePoint& point) const;
  // Returns the kernel with the schedule at a point, as one side of a comparison.
  KernelSource at(const PointInOrder& point) const;
};

// Throws UsageError for a kernel that has no space, and as plan_call() for a call whose sizes are not known.
TunedTask task_of(const TunedKernel& kernel, const Target& target, const TuneOptions& options);

}  // namespace ferry::tune
