// A store that a farm keeps for everybody who uses its boards (farm/protocol/modules.h).
#pragma once

#include <memory>

#include "farm/client/farm_access.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

// For several threads. Functions throw StoreFailed for what the farm refuses, and Error with unavailable,
// deadline_exceeded or unauthenticated if it cannot be asked: then no board of it can be had either.
std::unique_ptr<Store> open_farm_store(farm::FarmAccess farm);

}  // namespace ferry::gate
