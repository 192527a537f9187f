#include "farm/store/missing_revocations.h"

#include <map>
#include <string>
#include <utility>

namespace ferry::farm {

std::vector<Revocation> missing_revocations(std::span<const Revocation> revocations,
                                            std::span<const Credential> credentials) {
  std::map<std::pair<CredentialKind, std::string>, const Credential*> valid;
  for (const Credential& credential : credentials)
    if (!credential.revoked) valid[{credential.kind, credential.id}] = &credential;
  std::vector<Revocation> missing;
  for (const Revocation& revocation : revocations) {
    const auto found = valid.find({revocation.kind, revocation.id});
    if (found != valid.end() && found->second->salt == revocation.salt) missing.push_back(revocation);
  }
  return missing;
}

}  // namespace ferry::farm
