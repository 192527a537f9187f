// Compares what the two sides of a case compute, before their times say anything.
#pragma once

#include <array>
#include <string>

#include "host/gate/run/measure_pair.h"
#include "host/kernel/kernel.h"

namespace ferry::gate {

// Calls both once with the same inputs and returns how their results differ, in a sentence; empty if they do not. Where
// the kernel has a definition, each side may differ from it by as much as rounding its terms explains; otherwise the
// two may differ as docs/measuring.md says for kernels of which neither is known to be right. Throws SideFailed, and
// Error for what the device refuses.
std::string difference_of(const OpenSession& open, const MeasuredCase& measured, const std::array<SideModule, 2>& sides,
                          const verify::ParameterPairs& pairs, const KernelSource& source, const SuiteCase& suite_case,
                          const Observer& observer);

// Calls the current side once, of a kernel that has a definition, and returns how its results differ from that, in a
// sentence; empty if they do not. Throws as above. Beyond a second's work of evaluating the definition, a sample of the
// elements is compared.
std::string mistake_of(const OpenSession& open, const MeasuredCase& measured, const SideModule& current,
                       const KernelSource& source, const SuiteCase& suite_case, const Observer& observer);

// Calls one side once, where there is nothing to compare its results with. Throws SideFailed as above.
void call_once(const OpenSession& open, const MeasuredCase& measured, const SideModule& side, WhichSide which,
               const KernelSource& source, const Observer& observer);

}  // namespace ferry::gate
