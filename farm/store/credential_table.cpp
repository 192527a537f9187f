#include "farm/store/credential_table.h"

#include <algorithm>

#include "base/format.h"
#include "base/printable.h"
#include "farm/store/columns.h"

namespace ferry::farm {
namespace {

Status no_credential(const std::string& id) {
  return {ErrorCode::not_found, format("there is no credential %s", printable(id).c_str())};
}

bool is_known(const Credential& credential) {
  return has_word(wire::kCredentialKinds, credential.kind) && has_word(wire::kRoles, credential.role);
}

Result<SqlResult> insert(SqlConnection& connection, const Credential& credential, const std::string& on_conflict) {
  FERRY_TRY(expect_name(credential.id));
  if (!is_known(credential))
    return Status(ErrorCode::invalid_argument, "expected the kind and the role of a credential, got other numbers");
  return execute_with(connection, upsert_text("credentials", column_names<Credential>(), 2, on_conflict), credential);
}

}  // namespace

Status write_credential(SqlConnection& connection, const Credential& credential) {
  FERRY_ASSIGN(const SqlResult result, insert(connection, credential, "NOTHING"));
  if (result.changed == 1) return {};
  return {ErrorCode::invalid_argument, format("there is a credential %s already", printable(credential.id).c_str())};
}

Status replace_credential(SqlConnection& connection, const Credential& credential) {
  return insert(connection, credential, "").status();
}

Status delete_credential(SqlConnection& connection, CredentialKind kind, const std::string& id) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection, "DELETE FROM credentials WHERE kind = $1 AND id = $2", kind, id));
  if (result.changed == 1) return {};
  return no_credential(id);
}

Status write_revocation(SqlConnection& connection, CredentialKind kind, const std::string& id, Time at) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection, "UPDATE credentials SET revoked = COALESCE(revoked, $1) WHERE kind = $2 AND id = $3",
                       at, kind, id));
  if (result.changed == 1) return {};
  return no_credential(id);
}

Result<std::vector<Credential>> read_credentials(SqlConnection& connection) {
  FERRY_ASSIGN(std::vector<Credential> credentials,
               read_rows<Credential>(connection, "credentials", " ORDER BY kind, id"));
  if (!std::ranges::all_of(credentials, is_known))
    return Status(ErrorCode::device_error, "the database is damaged: a credential's kind or role");
  return credentials;
}

}  // namespace ferry::farm
