// The requests with which boards and clients begin.
#pragma once

#include "rpc/server/first_request.h"

namespace ferry::farm {

// join or hello, whose body wire::decode() then accepts.
extern const server::FirstRequestRules kFarmRequests;

}  // namespace ferry::farm
