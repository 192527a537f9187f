// Finds what must be revoked again after an old state of the database was restored.
#pragma once

#include <span>
#include <vector>

#include "farm/keys/revocation_file.h"
#include "farm/store/credential.h"

namespace ferry::farm {

// Returns the revocations of credentials that the database considers valid. One that it does not know, or knows with
// another salt, admits nobody.
std::vector<Revocation> missing_revocations(std::span<const Revocation> revocations,
                                            std::span<const Credential> credentials);

}  // namespace ferry::farm
