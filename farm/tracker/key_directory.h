// The keys and tokens with which boards and clients may connect, in memory. All follow from the credentials in the
// store and the farm's master key.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "farm/keys/derive_key.h"
#include "farm/store/credential.h"
#include "rpc/server/key_source.h"

namespace ferry::farm {

class KeyDirectory final : public server::KeySource {
 public:
  explicit KeyDirectory(const secure::Key& master) : master_(master) {}

  // Replaces everything.
  void load(std::span<const Credential> credentials);
  // Adds a credential or replaces the one of the same kind and id.
  void put(const Credential& credential);

  // A new credential with a random salt. The id is that of the board, or random.
  static Credential make(CredentialKind kind, std::uint64_t id, std::string label, Role role);
  struct NewToken {
    Credential credential;
    std::string token;
  };
  static NewToken make_token(std::string label, Role role);

  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const override;
  // Null if nobody, or nobody any more, has this key.
  const Credential* holder_of(const secure::KeyId& id) const;
  // The same for a token, which must not have expired by now.
  const Credential* holder_of_token(std::string_view token, Time now) const;
  // The credential that counts for this label: not revoked, or else the one revoked last; null if there is none.
  const Credential* find_label(CredentialKind kind, std::string_view label) const;
  const Credential* find_id(CredentialKind kind, std::uint64_t id) const;
  // All, by kind and id.
  std::vector<const Credential*> all() const;

  // The key of a client in the tracker's own name, which no listing shows. It is valid until the next one is made.
  secure::Key make_own(const std::string& holder);

  secure::Key key_of(const Credential& credential) const;
  // The key of a lease's sessions on one of its boards.
  secure::Key lease_key(std::uint64_t lease, std::uint64_t board, std::uint64_t epoch) const;
  std::uint64_t number_of(const std::string& holder) const { return number_of_holder(master_, holder); }

 private:
  secure::Key master_;
  std::map<std::pair<CredentialKind, std::string>, Credential> credentials_;
  Credential own_;
  std::map<secure::KeyId, const Credential*> by_key_;  // not revoked
  std::map<TokenHash, const Credential*> by_token_;    // not revoked
};

std::uint64_t id_of(const Credential& credential);

}  // namespace ferry::farm
