// Stores the module files that a server has received, for later sessions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device-runtime/broker/file_broker.h"

namespace ferry::device {

class ModuleStore {
 public:
  // The broker must outlive it.
  explicit ModuleStore(const FileBroker& broker) : broker_(broker) {}

  // Returns nothing if the file does not exist or its contents do not match its name.
  std::optional<std::vector<std::uint8_t>> find(const Hash& hash) const;
  // The bytes must have that hash. Does nothing if this server keeps no files, or none that large.
  Status put(const Hash& hash, std::span<const std::uint8_t> bytes) const;

 private:
  const FileBroker& broker_;
};

}  // namespace ferry::device
