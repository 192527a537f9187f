// Failures that are the kernel's own, apart from those of what was made for it.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "host/session/ferry.h"

namespace ferry::cli {

// A kernel ran and said that it failed: an index of its data was outside a tensor, or it returned a number other than
// 0.
class KernelFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What `work` returns, which calls or measures kernels whose arguments are checked already: what the server then says
// is wrong in the name of one of them is the kernel's own failure. What went wrong before is thrown first, as it is.
template <class Work>
auto run_kernel(const Device& device, std::initializer_list<std::string> kernels, const Work& work) {
  device.synchronize();
  try {
    return work();
  } catch (const RemoteError& error) {
    const std::string_view message = error.what();
    for (const std::string& kernel : kernels) {
      const bool is_its_own = error.code() == ErrorCode::invalid_argument && message.starts_with(kernel + ": ");
      if (is_its_own) throw KernelFailed(error.what());
    }
    throw;
  }
}

// Once the tensors of kernels are freed: damage to memory that they did not own may show only then, when the session
// ends. KernelFailed says so.
void finish_kernels(const Device& device);

}  // namespace ferry::cli
