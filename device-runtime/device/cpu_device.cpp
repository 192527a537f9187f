#include "device-runtime/device/cpu_device.h"

#include <cstring>

#include "base/format.h"
#include "device-runtime/device/cpu_program.h"
#include "device-runtime/device/host_memory.h"

namespace ferry::device {
namespace {

// With fewer elements, one thread finishes before others could be woken.
constexpr std::int64_t kFillGrain = 64 << 10;
// Shared memory is in whole pages.
constexpr std::uint64_t kLeastShared = 128 << 10;
// A tensor that takes this part of the memory limit is large.
constexpr std::uint64_t kLargeShare = 8;

struct FillLoop {
  std::uint8_t* memory;
  FillKind kind;
  std::uint64_t seed;
  DType dtype;
};

std::int32_t fill_part(std::int64_t begin, std::int64_t end, void* closure) {
  const auto& loop = *static_cast<const FillLoop*>(closure);
  const auto first = static_cast<std::uint64_t>(begin), count = static_cast<std::uint64_t>(end - begin);
  ferry::fill(loop.kind, loop.seed, loop.dtype, first, count, loop.memory + first * dtype_bytes(loop.dtype));
  return 0;
}

}  // namespace

Result<void*> CpuDevice::allocate(std::uint64_t bytes) {
  // There may be no room for a copy of a large tensor that a runner could share.
  return bytes >= budget_.limit() / kLargeShare ? allocate_persistent(bytes) : allocate_private(bytes);
}

Result<void*> CpuDevice::allocate_private(std::uint64_t bytes) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  const std::uint64_t cost = guarded_ ? GuardedMemory::cost(bytes) : bytes;
  FERRY_TRY(budget_.take(cost));
  void* memory = guarded_ ? guarded_->take(bytes) : take_host_memory(bytes);
  if (memory == nullptr) {
    budget_.give_back(cost);
    return Status(ErrorCode::resource_exhausted,
                  format("the system has no %llu bytes left", static_cast<unsigned long long>(bytes)));
  }
  return memory;
}

Result<void*> CpuDevice::allocate_persistent(std::uint64_t bytes) {
  if (shared_ == nullptr || guarded_ || bytes < kLeastShared) return allocate_private(bytes);
  FERRY_TRY(budget_.take(bytes));
  if (void* const memory = shared_->take_mapped(bytes); memory != nullptr) return memory;
  budget_.give_back(bytes);
  return allocate_private(bytes);
}

void CpuDevice::release(void* memory, std::uint64_t bytes) {
  if (memory == nullptr) return;
  if (shared_ != nullptr && shared_->give_back(memory)) return budget_.give_back(bytes);
  if (guarded_ && guarded_->give_back(memory)) return budget_.give_back(GuardedMemory::cost(bytes));
  return_host_memory(memory, bytes);
  budget_.give_back(bytes);
}

Status CpuDevice::copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
                       std::uint64_t bytes) {
  std::uint8_t* const to = host_address(destination) + destination_offset;
  const std::uint8_t* const from = host_address(source) + source_offset;
  // A client that has mapped the memory copies it to itself, to wait for the contents.
  if (to != from && bytes != 0) std::memmove(to, from, bytes);
  return {};
}

Status CpuDevice::fill(void* memory, FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t elements) {
  FillLoop loop{host_address(memory), kind, seed, dtype};
  pool_.parallel_for(static_cast<std::int64_t>(elements), kFillGrain, fill_part, &loop);
  return {};
}

Result<std::unique_ptr<Program>> CpuDevice::load(const ModuleFile& module, const Hash& hash) {
  return load_cpu_program(module, hash, *this, budget_, pool_, printed_);
}

}  // namespace ferry::device
