// Gives the kernels of a network that run on several devices the storages of tensors. Each tensor is in the memory of
// its storage's device, and copied once to the other device if a kernel there reads it.
#pragma once

#include "host/graph/plan/composition.h"
#include "host/graph/plan/network_function.h"
#include "module/manifest.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ferry::graph {

class DeviceStorages {
 public:
  // Adds storages and copies between devices to the composition, which has the storages of `storages` and no steps, and
  // constants that both devices read to `constants`. `devices` are the names of the module's. The references must
  // outlive this.
  DeviceStorages(const Graph& graph, const TensorStorages& storages, std::vector<std::string> devices,
                 Composition& composition, std::vector<Constant>& constants);

  // Return the storage of a tensor for a kernel on this device that reads it, or writes all of it. After the step that
  // writes, written() must be called.
  std::uint32_t to_read(TensorId tensor, std::uint32_t device);
  std::uint32_t to_write(TensorId tensor, std::uint32_t device);
  void written(TensorId tensor, std::uint32_t device);
  // Bracket the steps of a loop. begin_loop() first copies what kernels of the loop on this device read and what is
  // computed in front of it, so that not every iteration does. Copies that are made in the loop exist only there, since
  // it may have no iterations.
  void begin_loop(std::span<const TensorId> invariants, std::uint32_t device);
  void end_loop();
  // Adds a copy that the network has itself, such as from an input to an output called `name`.
  void add_copy(const StorageCopy& copy, const std::string& name);

 private:
  std::uint32_t whole(std::uint32_t storage) const { return whole_of(composition_.storages, storage); }
  std::uint32_t device_of(std::uint32_t storage) const { return composition_.storages[whole(storage)].device; }
  // Adds a copy of a tensor to another device.
  void copy(std::uint32_t to, std::uint32_t from, TensorId tensor);
  std::uint32_t add_storage(TensorId tensor, std::uint32_t device);
  // Returns the storage of the same constant, or part of one, on another device.
  std::uint32_t add_constant(std::uint32_t storage, std::uint32_t device);
  // Forgets the copies of a storage that changes, except the one on a device that has the new contents.
  void outdate_copies(std::uint32_t storage, std::uint32_t device);

  const Graph& graph_;
  const TensorStorages& storages_;
  std::vector<std::string> devices_;
  Composition& composition_;
  std::vector<Constant>& constants_;
  // Storages with the contents of another one, by this one and their device.
  using Copies = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;
  Copies copies_;
  std::vector<Copies> before_loops_;  // what copies_ was when the loops around the next step began
};

}  // namespace ferry::graph
