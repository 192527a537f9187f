// A module of this session: its manifest, and its code on a device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/handlers/blob_store.h"
#include "device-runtime/plan/constant_memory.h"
#include "device-runtime/plan/kept_call.h"

namespace ferry::device {

struct Module {
  Hash hash{};
  std::uint64_t file_bytes = 0;
  Manifest manifest;
  Device* device = nullptr;  // the device that runs the module
  std::unique_ptr<Program> program;
  std::optional<ConstantMemory> constants;  // those that calls read
  // Blobs that only init plans read, until the first instance is bound.
  std::vector<std::shared_ptr<const MappedBlob>> blobs_to_bind;
  std::vector<KeptCall> kept_calls;  // one for each function
};

// Reads a module, selects a device that can run it, trying the CPU first, and loads its code there; its constants
// remain to be loaded. The message of a refusal states what the module needs and what the devices have.
Result<std::unique_ptr<Module>> load_module(std::span<const std::uint8_t> file, const Hash& hash,
                                            const DeviceFacts& facts, std::span<const std::unique_ptr<Device>> devices);

}  // namespace ferry::device
