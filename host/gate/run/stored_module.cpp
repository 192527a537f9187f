#include "host/gate/run/stored_module.h"

#include <algorithm>

#include "base/unix_time.h"
#include "module/manifest.h"

namespace ferry::gate {

StoredModule store_module(Store& store, const CompiledModule& module, const Hash& identity, const std::string& label) {
  StoredModule stored;
  stored.identity = identity;
  stored.label = label;
  stored.stored = unix_milliseconds() / 1000;
  stored.module = store.put(module.bytes());
  for (const Blob& blob : module.manifest().blobs) {
    if (module.blobs() == nullptr) break;
    store.put_blob(blob.hash, blob.bytes, *module.blobs());
    stored.blobs.push_back(blob.hash);
  }
  return stored;
}

std::optional<CompiledModule> load_module(Store& store, const StoredModule& stored) {
  auto bytes = store.get(stored.module);
  if (!bytes || !std::ranges::all_of(stored.blobs, [&](const Hash& blob) { return store.has(blob); })) return {};
  return CompiledModule(std::move(*bytes), store.blobs(stored.blobs));
}

}  // namespace ferry::gate
