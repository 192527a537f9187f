// The CPU that the server runs on. Kernels are code images that the loader maps; their parallel loops share one thread
// pool.
#pragma once

#include <optional>

#include "device-runtime/device/device.h"
#include "device-runtime/device/guarded_memory.h"
#include "device-runtime/device/kernel_context.h"
#include "device-runtime/device/memory_budget.h"
#include "device-runtime/device/shared_memory.h"
#include "device-runtime/threads/thread_pool.h"

namespace ferry::device {

class CpuDevice final : public Device {
 public:
  // The budget must outlive the device and everything allocated from it.
  CpuDevice(ComputeDevice description, unsigned threads, MemoryBudget& budget)
      : description_(std::move(description)), budget_(budget), pool_(threads) {}

  ComputeDevice describe() const override { return description_; }
  // From now on persistent buffers, and what takes an eighth of the memory limit, are in shared memory, where other
  // processes can use them without a copy, if that has room and pages like other memory. It must outlive them.
  void share_memory(SharedMemory* shared) { shared_ = shared; }
  Result<void*> allocate(std::uint64_t bytes) override;
  Result<void*> allocate_persistent(std::uint64_t bytes) override;
  void release(void* memory, std::uint64_t bytes) override;
  std::uint8_t* host_address(void* memory) override { return static_cast<std::uint8_t*>(memory); }
  bool uses_host_memory() const override { return true; }
  Status copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
              std::uint64_t bytes) override;
  Status fill(void* memory, FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t elements) override;
  void guard_memory() override { guarded_.emplace(); }
  MemoryDamage memory_damage() const override { return guarded_ ? guarded_->damage() : MemoryDamage{}; }
  Result<std::unique_ptr<Program>> load(const ModuleFile& module, const Hash& hash) override;
  void limit_threads(unsigned threads) override { pool_.set_limit(threads); }
  void follow_caller() override { pool_.stop_workers(); }
  std::string take_printed() override { return printed_.take(); }
  void set_print_tail(PrintTail* tail) { printed_.set_tail(tail); }
  PrintBuffer& printed() { return printed_; }
  ThreadPool& pool() { return pool_; }

 private:
  Result<void*> allocate_private(std::uint64_t bytes);

  ComputeDevice description_;
  MemoryBudget& budget_;
  std::optional<GuardedMemory> guarded_;  // empty: memory is not guarded
  SharedMemory* shared_ = nullptr;
  PrintBuffer printed_;
  ThreadPool pool_;
};

}  // namespace ferry::device
