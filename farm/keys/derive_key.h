// The keys of a farm. All derive from one master key, so the tracker stores only the salts, and a copy of its database
// without the master key admits nobody. farm/FARM.md defines the derivation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "rpc/secure/key.h"

namespace ferry::farm {

enum class KeyKind : std::uint8_t { client = 1, board = 2, lease = 3, enrolment = 4, holder = 5 };

// Random, so that a key which is revoked and made again for the same id is another one.
using KeySalt = std::array<std::uint8_t, 16>;

// Keys of different kinds, ids or salts are independent of each other. `id` has at most 255 numbers; that of a lease is
// lease, board and epoch: no two boards have a key in common.
secure::Key derive_key(const secure::Key& master, KeyKind kind, std::span<const std::uint64_t> id, const KeySalt& salt);

// Returns the number by which boards know the holder of leases (LeaseHolder in farm/protocol/messages.h), from which
// nobody without the master key learns the name.
std::uint64_t number_of_holder(const secure::Key& master, std::string_view holder);

}  // namespace ferry::farm
