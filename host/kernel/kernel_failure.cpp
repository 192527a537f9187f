#include "host/kernel/kernel_failure.h"

namespace ferry {

void finish_kernels(const Device& device) {
  try {
    device.synchronize();
  } catch (const Error& error) {
    // The server's error for a session that ended while no kernel ran.
    if (error.code() != ErrorCode::internal) throw;
    throw KernelFailed(std::string(error.what()) +
                       ", after the kernel had run: it has probably written outside of its tensors");
  }
}

}  // namespace ferry
