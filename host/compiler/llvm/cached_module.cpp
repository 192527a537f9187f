#include "host/compiler/llvm/cached_module.h"

#include "base/hex.h"
#include "host/compiler/llvm/cache_key.h"

namespace ferry {

std::optional<Hash> key_of(const Origin& origin, const NetworkRequest& request) {
  CacheKey key;
  key.add(origin.source);
  key.add(request);
  if (origin.all_outputs_for) {
    key.add(*origin.all_outputs_for);
    key.add_sizes(origin.all_outputs_at);
    if (origin.all_outputs_algorithms) key.add(to_hex(*origin.all_outputs_algorithms));
  }
  if (!key.add_files(origin.files, origin.read)) return std::nullopt;
  return key.finish();
}

CachedModule::CachedModule(const ModuleCache& cache, const Origin& origin, const NetworkRequest& request)
    : cache_(cache), origin_(origin), key_(std::async([&origin, &request] { return key_of(origin, request); })) {}

std::optional<std::vector<std::uint8_t>> CachedModule::load() const {
  const std::optional<Hash>& key = key_.get();
  return key ? cache_.find(*key) : std::nullopt;
}

void CachedModule::store(std::span<const std::uint8_t> module) const {
  const std::optional<Hash>& key = key_.get();
  if (key && are_unchanged(origin_.files, origin_.read)) cache_.store(*key, module);
}

}  // namespace ferry
