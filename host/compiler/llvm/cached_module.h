// The modules of networks in the cache.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/compiler/llvm/module_cache.h"
#include "host/graph/compile/compile_network.h"

#include <chrono>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

// The files that a network was read from, and how.
struct Origin {
  NetworkSource source;
  std::vector<std::string> files;
  std::chrono::system_clock::time_point read;  // when reading began
  std::optional<Target> all_outputs_for = {};  // the target that it was optimised for, if each kernel has an output
  SizesByName all_outputs_at = {};             // and the sizes that were expected then
  std::optional<Hash> all_outputs_algorithms = {};  // and what tuning knew, as of TunedSchedules::identity()
};

// Returns the hash of everything that a network's module depends on; nothing if a file has changed since it was read.
std::optional<Hash> key_of(const Origin& origin, const NetworkRequest& request);

// The place of one module of a network. The arguments must outlive it.
class CachedModule final : public graph::CachedModuleSlot {
 public:
  // Hashes the files of the network while the caller goes on.
  CachedModule(const ModuleCache& cache, const Origin& origin, const NetworkRequest& request);

  std::optional<std::vector<std::uint8_t>> load() const override;
  // Stores nothing if a file has changed since the network was read: the module may have been made from either
  // contents.
  void store(std::span<const std::uint8_t> module) const override;

 private:
  const ModuleCache& cache_;
  const Origin& origin_;
  std::shared_future<std::optional<Hash>> key_;
};

}  // namespace ferry
