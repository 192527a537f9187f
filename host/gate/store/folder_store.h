// A store in a folder, which CI keeps between runs:
//
//     objects/HASH                modules and blobs
//     baselines/SUITE/NAME.json
//     history/SUITE.jsonl         a line for each verdict
//     lock
#pragma once

#include <memory>
#include <string>

#include "host/gate/store/store.h"

namespace ferry::gate {

inline constexpr std::uint64_t kDefaultQuota = std::uint64_t{1} << 30;

// Creates the folder if there is none. `quota` is the limit for the bytes of all objects.
std::unique_ptr<Store> open_folder_store(const std::string& folder, std::uint64_t quota = kDefaultQuota);

}  // namespace ferry::gate
