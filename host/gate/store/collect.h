// Deletes objects that nobody needs any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ferry::gate {

// See Store::collect(). Needs the lock of the store, held alone. Times are those of the file system since 1970; objects
// used since `oldest_in_use` stay. If a baseline cannot be read, all stay, because it may need any of them.
std::string collect_objects(const std::string& objects, const std::string& baselines, std::uint64_t quota,
                            std::chrono::nanoseconds now, std::chrono::nanoseconds oldest_in_use);

}  // namespace ferry::gate
