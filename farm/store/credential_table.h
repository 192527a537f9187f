// The table of credentials.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "farm/store/credential.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Each as the function of Store; those that write require a transaction.
Status write_credential(SqlConnection& connection, const Credential& credential);
Status replace_credential(SqlConnection& connection, const Credential& credential);
Status delete_credential(SqlConnection& connection, CredentialKind kind, const std::string& id);
Status write_revocation(SqlConnection& connection, CredentialKind kind, const std::string& id, Time at);
Result<std::vector<Credential>> read_credentials(SqlConnection& connection);

}  // namespace ferry::farm
