// Runs one side of a comparison for what it computes, before its times say anything.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/measure/measured_side.h"
#include "host/verify/probes.h"

namespace ferry::bench {

struct SideChecks {
  bool guards_tensors = false;
  bool warns = false;          // find out why a comparison of the outputs shows little
  bool rounds_inputs = false;  // call once more with inputs of fewer bits, which shows what that does to the outputs
  std::vector<verify::Definition> definitions = {};  // what to probe the side with; empty: nothing
  verify::ProbeOptions probing = {};
};

struct SideOutputs {
  verify::Outputs outputs;
  std::vector<std::string> warnings = {};
  std::vector<verify::Probe> probes = {};
  // The outputs of a call with rounded inputs (host/verify/controls.h); empty if there was none, because inputs are too
  // large to be sent, or no floats.
  verify::Outputs rounded = {};
};

// Calls the side once, in a session of its own: nothing is left there of what the other side has computed. Further
// calls come after this one. Throws KernelFailed, and Error as measure_process().
SideOutputs outputs_of_side(const OpenSession& open, const RunSettings& settings, const MeasuredSide& side,
                            const SideChecks& checks, const Observer& observer);

}  // namespace ferry::bench
