// Modules of cases in the store.
#pragma once

#include <optional>
#include <string>

#include "ferry/client.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

// Stores a module that was compiled just now, with its blobs.
StoredModule store_module(Store& store, const CompiledModule& module, const Hash& identity, const std::string& label);

// Returns the module, or nothing if the store has lost a part of it. Throws StoreFailed, and Error with
// invalid_argument for one that is damaged.
std::optional<CompiledModule> load_module(Store& store, const StoredModule& stored);

}  // namespace ferry::gate
