// Distinguishes failures of a kernel from those before it runs.
#pragma once

#include <initializer_list>
#include <string>

#include "ferry/client.h"
#include "ferry/error.h"
#include "ferry/kernel/kernel_failed.h"

namespace ferry {

// Whether the server reports an error in the name of one of these kernels: if their arguments have been checked, it is
// the kernel's own failure.
bool is_in_name_of(const Error& error, std::initializer_list<std::string> kernels);

// Returns the result of `work`, which calls or measures kernels whose arguments have been checked: an error that the
// server then reports in the name of one of them is the kernel's own failure. Earlier failures are thrown first,
// unchanged.
template <class Work>
auto run_kernel(const Device& device, std::initializer_list<std::string> kernels, const Work& work) {
  device.synchronize();
  try {
    return work();
  } catch (const Error& error) {
    if (is_in_name_of(error, kernels)) throw KernelFailed(error.what());
    throw;
  }
}

// Whether a kernel itself failed: it crashed, or one of its calls took longer than the limit of a call. A session that
// took too long, or a connection, is no failure of the kernel's, whatever ran at that time.
bool is_failure_of_kernel(const Error& error);

// Whether a kernel may hang that has no limit of its own: a request that ran kernels took at least half of a session,
// up to the session's limit. It may also be that the limit is too short, or the board too slow.
bool may_be_hang(const Error& error);

// Call this once the kernels' tensors are freed: corruption of memory that they did not own may show only then, when
// the session ends. Throws KernelFailed in that case.
void finish_kernels(const Device& device);

}  // namespace ferry
