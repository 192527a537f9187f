// Chooses how to call a function of which nothing but its signature is known.
#pragma once

#include <functional>
#include <optional>

#include "ferry/kernel/call_options.h"
#include "host/kernel/input_content.h"
#include "module/manifest.h"

namespace ferry::gate {

struct ChosenCall {
  CallOptions call;
  std::optional<double> seconds;  // its time on this machine; nothing: unknown
};

// Returns the seconds that a call takes on this machine; nothing if it cannot be made here.
using TimeOfCall = std::function<std::optional<double>(const CallOptions& call)>;

// Returns sizes and inputs with which the function can be called. All sizes get the same value, a power of two with
// which the tensors take up to 4 MiB: the one with which a call comes nearest to a millisecond. Without `time`, it is
// the largest one with which a call has up to 2^26 operations. Where their number is unknown, it is estimated for
// tensors of two dimensions or more as in a product of matrices. The sizes of a network, which are usually a batch or a
// length, are as small as it permits, and it is not timed. Numbers get the value 1, and integers that may be indices of
// elements values that are valid as such. With the full range all other inputs are described too.
//
// Throws UsageError if no such size fits, with the reason why the last one did not.
ChosenCall chosen_call(const FunctionInfo& function, bool is_network, InputRange range, const TimeOfCall& time = {});

}  // namespace ferry::gate
