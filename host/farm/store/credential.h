// Who may use the farm. No secret is stored: a key is derived from the farm's master key, by kind, id and salt, and of
// a token only its hash is kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "host/farm/schedule/clock.h"

namespace ferry::farm {

// The values are stored and are never reused.
enum class CredentialKind : std::uint8_t { client = 1, board = 2, token = 3 };
enum class Role : std::uint8_t { viewer = 1, user = 2, admin = 3 };

using Salt = std::array<std::uint8_t, 32>;
using TokenHash = std::array<std::uint8_t, 32>;

struct Credential {
  CredentialKind kind = CredentialKind::client;
  std::string id;  // unique among those of its kind
  Salt salt{};
  std::string label;  // for people
  Role role = Role::user;
  std::optional<TokenHash> token_hash = {};  // of tokens alone
  std::optional<Time> revoked = {};
};

}  // namespace ferry::farm
