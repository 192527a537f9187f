// The least time of a call whose tensors are larger than the caches: memory must move what the call needs.
#pragma once

#include <cstdint>
#include <string>

#include "ferry/client.h"
#include "host/kernel/call_plan.h"

namespace ferry::bench {

// Returns the bytes of the outputs, which every call writes, and of the inputs of which the definition needs every
// element (host/lang/whole_reads.h; no entries: it is not known). 0 if caches may hold them, or if the device does not
// say how large its caches are.
std::uint64_t moved_bytes(const FunctionInfo& info, const std::vector<Shape>& shapes, const DeviceFacts& facts,
                          const std::vector<bool>& whole_reads = {});

// Returns why the times cannot be true, "2.0 us for 256.0 MiB of tensors, for which memory takes 12.8 ms ..."; empty if
// they can, or if nothing is known. `copy_rate` is that of a copy as large, bytes read and written a second, the best
// of before and after the samples.
std::string too_fast(const Timing& timing, std::uint64_t moved, double copy_rate);

}  // namespace ferry::bench
