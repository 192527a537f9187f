#include "host/kernel/kernel_failure.h"

namespace ferry {

namespace {

// The part of the server's message that names the limit which was exceeded.
constexpr std::string_view kLimitOfCall = ": the limit of a call is ";

}  // namespace

bool is_failure_of_kernel(const Error& error) {
  if (error.code() == ErrorCode::kernel_crashed) return true;
  return error.code() == ErrorCode::deadline_exceeded &&
         std::string_view(error.what()).find(kLimitOfCall) != std::string_view::npos;
}

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
