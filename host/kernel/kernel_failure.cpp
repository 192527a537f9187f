#include "host/kernel/kernel_failure.h"

#include <algorithm>
#include <string_view>

namespace ferry {

bool is_in_name_of(const Error& error, std::initializer_list<std::string> kernels) {
  const std::string_view message = error.what();
  return error.code() == ErrorCode::invalid_argument &&
         std::ranges::any_of(kernels, [&](const std::string& kernel) { return message.starts_with(kernel + ": "); });
}

bool is_failure_of_kernel(const Error& error) {
  if (error.code() == ErrorCode::kernel_crashed) return true;
  const auto* exceeded = dynamic_cast<const LimitExceeded*>(&error);
  return exceeded != nullptr && exceeded->limit() == TimeLimit::call;
}

bool may_be_hang(const Error& error) {
  const auto* exceeded = dynamic_cast<const LimitExceeded*>(&error);
  return exceeded != nullptr && exceeded->limit() == TimeLimit::session && exceeded->running() >= 0.5;
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
