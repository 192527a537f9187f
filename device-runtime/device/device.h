// A device that kernels run on: the CPU or a GPU. A session owns its devices; memory and programs belong to the device
// that made them and must be released before it.
//
// Memory is identified by the address that the device uses for it, which need not be valid in this process;
// host_address() returns one that is, if there is any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "device-runtime/device/stream.h"
#include "ferry/device_facts.h"
#include "ferry/fill.h"
#include "ferry/hash.h"
#include "module/manifest.h"
#include "module/module_file.h"

namespace ferry::device {

// Describes where a kernel wrote outside of its memory.
struct MemoryDamage {
  const void* memory = nullptr;  // the adjacent block; null: no damage
  bool is_behind = false;        // after the block, or before it
};

// A module loaded on a device.
class Program {
 public:
  virtual ~Program() = default;
  // Returns a stream for one plan of the function, which must outlive it.
  virtual Result<std::unique_ptr<Stream>> open_stream(const FunctionInfo& function) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual ComputeDevice describe() const = 0;

  // Returns zeroed memory aligned to at least 64 bytes; null for 0 bytes. Fails with resource_exhausted if the
  // session's limit or the memory is exhausted.
  virtual Result<void*> allocate(std::uint64_t bytes) = 0;
  // Likewise, for the persistent buffers of an instance.
  virtual Result<void*> allocate_persistent(std::uint64_t bytes) { return allocate(bytes); }
  virtual void release(void* memory, std::uint64_t bytes) = 0;
  // Returns the address at which this process can access the memory; null if it cannot, in which case write() and
  // read() must be used.
  virtual std::uint8_t* host_address(void* /*memory*/) { return nullptr; }
  // Whether kernels access memory of this process by its addresses.
  virtual bool uses_host_memory() const { return false; }
  virtual Status write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from);
  virtual Status read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into);
  // Transfer piece by piece, in order: `fill` produces the next piece while the previous one is transferred, and `take`
  // consumes one piece while the next is fetched. If this process can access the memory, there is a single piece and no
  // copy. A failure of `fill` or `take` ends the transfer and is returned.
  using FillPiece = std::function<Status(std::span<std::uint8_t>)>;
  using TakePiece = std::function<Status(std::span<const std::uint8_t>)>;
  virtual Status write_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const FillPiece& fill);
  virtual Status read_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const TakePiece& take);
  // The ranges may overlap.
  virtual Status copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
                      std::uint64_t bytes) = 0;
  // Fills the first `elements` elements, as ferry/fill.h defines them.
  virtual Status fill(void* memory, FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t elements);

  // From now on allocate() returns memory that detects out-of-bounds accesses: they either crash the kernel or are
  // found by memory_damage(). Devices without support do nothing.
  virtual void guard_memory() {}
  virtual MemoryDamage memory_damage() const { return {}; }

  // Loads the module's image that fits this device. The manifest has been checked against the device's facts. `hash`
  // identifies the module to debuggers and in crash reports.
  virtual Result<std::unique_ptr<Program>> load(const ModuleFile& module, const Hash& hash) = 0;

  // From now on parallel loops use at most this many threads; 0: all.
  virtual void limit_threads(unsigned /*threads*/) {}
  // From now on the threads of parallel loops run on the cores on which the calling thread may run.
  virtual void follow_caller() {}

  // Returns what kernels have printed since the last call.
  virtual std::string take_printed() { return {}; }

  // Prepares for measurements with cold caches and returns how many bytes of the device's own memory wipe_caches()
  // overwrites. 0: the device has no caches other than those of this process's memory.
  virtual Result<std::uint64_t> prepare_wiping() { return std::uint64_t{0}; }
  // Wipes the caches before the next operation on the device.
  virtual void wipe_caches() {}

  // Returns the current value of a property of the device, such as "temperature_c" (PROTOCOL.md, evaluate); empty if
  // the device does not report it.
  virtual std::string watched_text(const std::string& /*name*/) { return {}; }
};

// Copies between two devices, behind everything that both have been given to do before.
Status copy_between(Device& to, void* destination, std::uint64_t destination_offset, Device& from, void* source,
                    std::uint64_t source_offset, std::uint64_t bytes);

}  // namespace ferry::device
