#include "device-runtime/opencl/opencl_limits.h"

#include <algorithm>

#include "base/format.h"

namespace ferry::device {
namespace {

// Exceeds the threads of any block, and its product with the largest extent does not overflow.
constexpr std::uint64_t kManyThreads = std::uint64_t{1} << 31;

unsigned long long number(std::uint64_t value) { return value; }

Status refuse(const FunctionInfo& function, const BoundLaunch& launch, const std::string& what) {
  return {ErrorCode::unsupported, function.name + ": kernel '" + launch.kernel + "' " + what};
}

// Returns a property of the kernel on this device; 0 if the driver does not report it.
template <class T>
T kernel_info(const OpenClDevice& device, cl_kernel kernel, cl_kernel_work_group_info what) {
  T value{};
  return device.api().clGetKernelWorkGroupInfo(kernel, device.id(), what, sizeof value, &value, nullptr) == CL_SUCCESS
             ? value
             : T{};
}

}  // namespace

std::uint64_t shared_memory_of(const OpenClDevice& device, cl_kernel kernel) {
  return kernel_info<cl_ulong>(device, kernel, CL_KERNEL_LOCAL_MEM_SIZE);
}

Status check_launch_limits(const OpenClDevice& device, const FunctionInfo& function, const BoundLaunch& launch,
                           cl_kernel kernel) {
  const std::size_t most_threads = kernel_info<std::size_t>(device, kernel, CL_KERNEL_WORK_GROUP_SIZE);
  std::uint64_t threads = 1;
  for (const std::uint64_t block : launch.block) threads = std::min(threads * block, kManyThreads);
  if (most_threads != 0 && threads > most_threads) {
    return refuse(function, launch,
                  format("wants %llu threads a block; on this device it can have %zu: schedule it with smaller blocks",
                         number(threads), most_threads));
  }
  const std::uint64_t local = shared_memory_of(device, kernel);
  const auto most_local = device.info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
  if (most_local != 0 && local + launch.shared_bytes > most_local) {
    return refuse(
        function, launch,
        format("wants %llu bytes of shared memory a block; this device has %llu: schedule it with smaller tiles",
               number(local + launch.shared_bytes), number(most_local)));
  }
  const auto bits = device.info<cl_uint>(CL_DEVICE_ADDRESS_BITS);
  const std::uint64_t most_global = bits == 32 || sizeof(std::size_t) == 4 ? UINT32_MAX : UINT64_MAX;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (launch.block[axis] == 0 || launch.grid[axis] <= most_global / launch.block[axis]) continue;
    return refuse(function, launch,
                  format("wants a grid of %llu blocks along %c; with %llu threads a block this device takes %llu",
                         number(launch.grid[axis]), "xyz"[axis], number(launch.block[axis]),
                         number(most_global / launch.block[axis])));
  }
  return {};
}

}  // namespace ferry::device
