// Something kernels run on: the CPU, later GPUs. A session owns its devices; memory and programs belong to the device
// that made them and must be gone before it.
//
// Memory is named by the address the device knows it by, which need not be one of this process: host_address() says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "device-runtime/measure/measure.h"
#include "rpc/abi/device_facts.h"
#include "rpc/abi/fill.h"
#include "rpc/abi/manifest.h"
#include "rpc/abi/module_file.h"
#include "rpc/base/hash.h"
#include "rpc/base/status.h"

namespace ferry::device {

// One argument as a kernel gets it: memory of the device, or a scalar's bits.
struct DeviceArgument {
  bool is_scalar = false;
  void* memory = nullptr;
  std::uint64_t scalar_bits = 0;  // little-endian, in the low bytes
};

// Where a kernel has written outside of its memory.
struct MemoryDamage {
  const void* memory = nullptr;  // the block beside it; null: nowhere
  bool is_behind = false;        // it, or before it
};

// A module on a device.
class Program {
 public:
  virtual ~Program() = default;
  // A call that can be run again and again. Workspaces are taken here, before any clock runs, and returned with the
  // call. `function` is an index into the manifest; the arguments were checked against it.
  virtual Result<std::unique_ptr<Workload>> prepare(std::size_t function, std::span<const DeviceArgument> arguments,
                                                    const BoundCall& bound) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual ComputeDevice describe() const = 0;

  // Zeroed, aligned to 64 bytes at least. Null for 0 bytes. resource_exhausted when the session's limit or the memory
  // is used up.
  virtual Result<void*> allocate(std::uint64_t bytes) = 0;
  virtual void release(void* memory, std::uint64_t bytes) = 0;
  // Where this process reads and writes the memory; null when it cannot: then write() and read() do.
  virtual std::uint8_t* host_address(void* /*memory*/) { return nullptr; }
  virtual Status write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from);
  virtual Status read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into);
  // The same piece by piece, in order: `fill` makes the next one while the one before it is on its way, `take` is given
  // one while the next is fetched. Where this process reaches the memory it is one piece, and no copy is made. A
  // failure of theirs ends it and is returned.
  using FillPiece = std::function<Status(std::span<std::uint8_t>)>;
  using TakePiece = std::function<Status(std::span<const std::uint8_t>)>;
  virtual Status write_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const FillPiece& fill);
  virtual Status read_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const TakePiece& take);
  // The ranges may overlap.
  virtual Status copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
                      std::uint64_t bytes) = 0;
  // The first elements, as rpc/abi/fill.h defines them.
  virtual Status fill(void* memory, FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t elements);

  // From now on allocate() gives out memory that tells whether somebody has left it. Kernels that do end, or are found
  // by memory_damage(). A device that cannot does nothing.
  virtual void guard_memory() {}
  virtual MemoryDamage memory_damage() const { return {}; }

  // Takes the image that fits this device out of the module. The manifest was checked against the device's facts.
  // `hash` is what debuggers and reports of crashes call it.
  virtual Result<std::unique_ptr<Program>> load(const ModuleFile& module, const Hash& hash) = 0;

  // Parallel loops use at most so many threads from now on; 0: all.
  virtual void limit_threads(unsigned /*threads*/) {}
  // The threads of parallel loops run from now on where the calling thread may run.
  virtual void follow_caller() {}

  // What kernels have printed since the last call.
  virtual std::string take_printed() { return {}; }

  // For measurements that want caches without what they touched: how many bytes wipe_caches() walks through in the
  // device's own memory. 0: the device has no caches beside those of this process's memory.
  virtual Result<std::uint64_t> prepare_wiping() { return std::uint64_t{0}; }
  // Ahead of whatever runs next on the device.
  virtual void wipe_caches() {}

  // What the device says of itself under this name now, such as "temperature_c" (PROTOCOL.md, evaluate); empty when it
  // does not.
  virtual std::string watched_text(const std::string& /*name*/) { return {}; }
};

}  // namespace ferry::device
