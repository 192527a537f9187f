// A store in a folder, which CI keeps between runs:
//
//     objects/HASH                modules and blobs
//     baselines/SUITE/NAME.json
//     history/SUITE.jsonl         a line for each verdict
//     lock
//
// The folder may be one of a network file system, if that can lock files. Processes may be killed at any time, and what
// is in the folder is checked when it is read. The folder itself may be a symbolic link, but nothing in it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "host/gate/store/store.h"

namespace ferry::gate {

inline constexpr std::uint64_t kDefaultQuota = std::uint64_t{1} << 30;

struct StoreTimes {
  std::chrono::seconds in_use = std::chrono::hours{1};          // objects used so recently are not deleted
  std::chrono::seconds longest_wait = std::chrono::minutes{2};  // for other processes
};

// Creates the folder if there is none. `quota` is the limit for the bytes of all objects. The store is used by one
// thread at a time.
std::unique_ptr<Store> open_folder_store(const std::string& folder, std::uint64_t quota = kDefaultQuota,
                                         const StoreTimes& times = {});

}  // namespace ferry::gate
