// Identities. The caller chooses all of them; none is ever used for something else.
#pragma once

#include <cstdint>

namespace ferry::farm {

enum class BoardId : std::uint64_t {};
// Names a request and the lease that answers it.
enum class LeaseId : std::uint64_t {};
enum class BoardConnection : std::uint64_t {};
enum class ClientConnection : std::uint64_t {};
// A tracker's period of office: each has a greater one than all before. The store refuses what an earlier one writes.
enum class TrackerTerm : std::uint64_t {};

}  // namespace ferry::farm
