// A module of this session: its manifest, and its code on one device or several.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/drivers.h"
#include "device-runtime/device/memory_budget.h"
#include "device-runtime/plan/constant_memory.h"
#include "device-runtime/plan/kept_call.h"
#include "device-runtime/session/state/blob_store.h"

namespace ferry::device {

using ModuleBytes = std::shared_ptr<const std::vector<std::uint8_t>>;

struct Module {
  Hash hash{};
  std::uint64_t file_bytes = 0;
  ModuleBytes file;  // for runners; null: this session has none
  std::optional<MemoryCharge> file_charge;
  Manifest manifest;
  std::vector<Device*> devices;  // the session's, in the order of the manifest's
  std::unique_ptr<Program> program;
  std::optional<ConstantMemory> constants;  // those that calls read
  // Blobs that only init plans read, until the first instance is bound.
  std::vector<std::shared_ptr<const MappedBlob>> blobs_to_bind;
  std::vector<KeptCall> kept_calls;  // one for each function

  // Returns what kernels have printed since the last call.
  std::string take_printed() const;
};

// Reads a module, selects for each of its devices another one of the session, in their order, and loads its code there;
// its constants remain to be loaded. The message of a refusal states what the module needs and what the devices have.
// Without `join` only modules for one device are loaded.
Result<std::unique_ptr<Module>> load_module(std::span<const std::uint8_t> file, const Hash& hash,
                                            const DeviceFacts& facts, std::span<const std::unique_ptr<Device>> devices,
                                            JoinPrograms join);

}  // namespace ferry::device
