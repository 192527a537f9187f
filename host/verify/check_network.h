// Compares what each node of a network computed with its definition, evaluated on this machine from the inputs that the
// node had on the device. So the first wrong result names the node that is at fault.
#pragma once

#include "ferry/verify/findings.h"
#include "host/kernel/compile_kernel.h"
#include "host/verify/check_against.h"
#include "host/verify/probes.h"

namespace ferry::verify {

// Compiles the network with the results of all kernels as outputs, and calls it once. The results have the names of the
// nodes, in their order; of nodes in a loop, a few iterations are compared. After them, each output of the network as
// it `ran`, where tensors share memory, is compared with the same kernels' results in memory of their own: these are
// equal. If the options ask for a thorough check, it is called with adversarial inputs and other sizes too; sums of
// weights are exact in no order, so there are no probes of exact sums. Adds checks and probes to the findings. Throws
// KernelFailed if the network fails, and CompileError.
void check_network(const Device& device, const KernelSource& source, const Target& target, const CallOptions& call,
                   const RanKernel& ran, const ProbeOptions& options, Findings& findings,
                   const Observer& observer = {});

}  // namespace ferry::verify
