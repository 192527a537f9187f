#include "host/graph/compile/device_storages.h"

namespace ferry::graph {

DeviceStorages::DeviceStorages(const Graph& graph, const TensorStorages& storages, std::vector<std::string> devices,
                               Composition& composition, std::vector<Constant>& constants)
    : graph_(graph),
      storages_(storages),
      devices_(std::move(devices)),
      composition_(composition),
      constants_(constants) {
  for (const Storage& storage : storages.storages)
    if (storage.kind == Storage::Kind::constant) constants_[storage.index].device = storage.device;
}

std::uint32_t DeviceStorages::add_storage(TensorId tensor, std::uint32_t device) {
  composition_.storages.push_back({Storage::Kind::arena, 0, bytes_of(graph_, graph_.tensor(tensor)), {}, device});
  return static_cast<std::uint32_t>(composition_.storages.size() - 1);
}

void DeviceStorages::copy(std::uint32_t to, std::uint32_t from, TensorId id) {
  const Tensor& tensor = graph_.tensor(id);
  composition_.steps.emplace_back(
      StorageCopy{to, from, bytes_of(graph_, tensor), "copy of " + tensor.name + " to " + devices_[device_of(to)]});
}

std::uint32_t DeviceStorages::add_constant(std::uint32_t storage, std::uint32_t device) {
  Storage there = composition_.storages[storage];
  there.device = device;
  if (there.kind == Storage::Kind::part) {
    there.index = add_constant(there.index, device);
  } else {
    Constant constant = constants_[there.index];
    constant.device = device;
    there.index = static_cast<std::uint32_t>(constants_.size());
    constants_.push_back(constant);
  }
  composition_.storages.push_back(std::move(there));
  return static_cast<std::uint32_t>(composition_.storages.size() - 1);
}

void DeviceStorages::outdate_copies(std::uint32_t storage, std::uint32_t device) {
  std::erase_if(copies_, [&](const auto& copy) {
    return whole(copy.first.first) == whole(storage) && copy.first != std::pair(storage, device);
  });
}

std::uint32_t DeviceStorages::to_read(TensorId tensor, std::uint32_t device) {
  const std::uint32_t storage = storages_.of_tensor[tensor];
  if (device_of(storage) == device) return storage;
  const auto [copied, is_new] = copies_.try_emplace({storage, device}, 0U);
  if (!is_new) return copied->second;
  const bool is_constant = composition_.storages[whole(storage)].kind == Storage::Kind::constant;
  copied->second = is_constant ? add_constant(storage, device) : add_storage(tensor, device);
  if (!is_constant) copy(copied->second, storage, tensor);
  return copied->second;
}

std::uint32_t DeviceStorages::to_write(TensorId tensor, std::uint32_t device) {
  const std::uint32_t storage = storages_.of_tensor[tensor];
  if (device_of(storage) == device) return storage;
  const auto [copied, is_new] = copies_.try_emplace({storage, device}, 0U);
  if (is_new) copied->second = add_storage(tensor, device);
  return copied->second;
}

void DeviceStorages::written(TensorId tensor, std::uint32_t device) {
  const std::uint32_t storage = storages_.of_tensor[tensor];
  outdate_copies(storage, device);
  if (device_of(storage) != device) copy(storage, copies_.at({storage, device}), tensor);
}

void DeviceStorages::begin_loop(std::span<const TensorId> invariants, std::uint32_t device) {
  for (const TensorId tensor : invariants) to_read(tensor, device);
  before_loops_.push_back(copies_);
}

void DeviceStorages::end_loop() {
  std::erase_if(copies_, [&](const auto& copy) {
    const auto before = before_loops_.back().find(copy.first);
    return before == before_loops_.back().end() || before->second != copy.second;
  });
  before_loops_.pop_back();
}

void DeviceStorages::add_copy(const StorageCopy& copy, const std::string& name) {
  outdate_copies(copy.to, device_of(copy.to));
  composition_.steps.emplace_back(copy);
  std::get<StorageCopy>(composition_.steps.back()).name = (copy.from == kNoStorage ? "zeros of " : "copy to ") + name;
}

}  // namespace ferry::graph
