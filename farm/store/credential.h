// Who may use the farm. No secret is stored: a key is derived from the farm's master key, by kind, id and salt, and of
// a token only its hash is kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "farm/core/schedule/clock.h"
#include "farm/keys/derive_key.h"
#include "farm/protocol/queries.h"

namespace ferry::farm {

using wire::CredentialKind;
using wire::Role;

using TokenHash = std::array<std::uint8_t, 32>;

struct Credential {
  CredentialKind kind = CredentialKind::client;
  std::string id;  // unique among those of its kind
  KeySalt salt{};
  std::string label;  // for people
  Role role = Role::user;
  std::optional<TokenHash> token_hash = {};  // for tokens alone
  std::optional<Time> revoked = {};
  std::optional<Time> expires = {};  // only tokens expire

  FERRY_FIELDS((kind), (id), (salt), (label), (role), (token_hash), (revoked), (expires));
};

}  // namespace ferry::farm
