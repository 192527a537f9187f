// Compares what the two sides of a case compute, before their times say anything.
#pragma once

#include <string>
#include <vector>

#include "host/gate/run/measure_pair.h"
#include "host/kernel/kernel.h"

namespace ferry::gate {

// Calls both once with the same inputs and returns how their results differ, in a sentence; empty if they do not. Where
// the kernel has a definition, each side may differ from it by as much as rounding its terms explains; otherwise the
// two may differ as docs/measuring.md says for kernels of which neither is known to be right. `warnings` says why the
// comparison shows little, if it does. The sides keep their results, for the comparison with those of timed calls.
// Throws SideFailed, and Error for what the device refuses.
std::string difference_of(const OpenSession& open, const RunSettings& measured, PerSide<MeasuredSide>& sides,
                          const verify::ParameterPairs& pairs, const KernelSource& source, const SuiteCase& suite_case,
                          const Observer& observer, std::vector<std::string>& warnings);

// Calls the current side once, of a kernel that has a definition, and returns how its results differ from that, in a
// sentence; empty if they do not. Throws as above. Beyond a second's work of evaluating the definition, a sample of the
// elements is compared.
std::string mistake_of(const OpenSession& open, const RunSettings& measured, const MeasuredSide& current,
                       const KernelSource& source, const SuiteCase& suite_case, const Observer& observer,
                       std::vector<std::string>& warnings);

// Calls one side once, where there is nothing to compare its results with; `warnings`, which may be null, is told what
// a comparison would show too little of. Throws SideFailed as above.
void call_once(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side, Side which,
               const KernelSource& source, const Observer& observer, std::vector<std::string>* warnings = nullptr);

}  // namespace ferry::gate
