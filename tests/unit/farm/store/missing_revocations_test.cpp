// Which revocations are repeated after an older state of the database was restored.
#include "farm/store/missing_revocations.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

using farm::Credential;
using farm::CredentialKind;
using farm::Revocation;

TEST_CASE("revocations of credentials that the database holds for valid are missing, and no others") {
  const farm::KeySalt salt{1}, new_salt{2};
  const std::vector<Revocation> revocations = {{CredentialKind::client, "anna", salt, 1},
                                               {CredentialKind::board, "pi", salt, 2},
                                               {CredentialKind::client, "otto", salt, 3},
                                               {CredentialKind::client, "gone", salt, 4}};
  const Credential anna{CredentialKind::client, "anna", salt, "anna"};
  Credential pi{CredentialKind::board, "pi", salt, "pi"};
  pi.revoked = farm::Time(farm::Duration(2));
  // Another key of the same person.
  const Credential otto{CredentialKind::client, "otto", new_salt, "otto"};
  const Credential board_anna{CredentialKind::board, "anna", salt, "anna"};
  const std::vector<Credential> restored = {anna, pi, otto, board_anna};
  CHECK(farm::missing_revocations(revocations, restored) == std::vector{revocations[0]});
  CHECK(farm::missing_revocations(revocations, {}).empty());
  CHECK(farm::missing_revocations({}, restored).empty());
}

TEST_CASE("the revocation of a key that was replaced is repeated if a backup brings the key back") {
  const farm::KeySalt old_salt{1}, new_salt{2};
  const std::vector<Revocation> revocations = {{CredentialKind::client, "anna", old_salt, 1}};
  std::vector<Credential> credentials = {{CredentialKind::client, "anna", new_salt, "anna"}};
  CHECK(farm::missing_revocations(revocations, credentials).empty());
  credentials[0].salt = old_salt;
  CHECK(farm::missing_revocations(revocations, credentials) == revocations);
}

}  // namespace
}  // namespace ferry::test
