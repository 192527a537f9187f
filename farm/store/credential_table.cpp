#include "farm/store/credential_table.h"

#include "base/format.h"
#include "base/hex.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

Status damaged(const char* what) {
  return {ErrorCode::device_error, format("the database is damaged: a credential's %s", what)};
}

Status no_credential(const std::string& id) {
  return {ErrorCode::not_found, format("there is no credential %s", printable(id).c_str())};
}

template <class Bytes>
Result<Bytes> parse_bytes(const std::string& text) {
  Bytes bytes{};
  if (!parse_hex(text, bytes)) return damaged("bytes");
  return bytes;
}

bool is_kind(CredentialKind kind) { return kind >= CredentialKind::client && kind <= CredentialKind::enrolment; }
bool is_role(Role role) { return role >= Role::viewer && role <= Role::admin; }

Result<SqlResult> insert(SqlConnection& connection, const Credential& credential, const std::string& on_conflict) {
  FERRY_TRY(expect_name(credential.id));
  if (!is_kind(credential.kind) || !is_role(credential.role))
    return Status(ErrorCode::invalid_argument, "expected the kind and the role of a credential, got other numbers");
  return execute(connection,
                 "INSERT INTO credentials (kind, id, salt, label, role, token_hash, revoked, expires) "
                 "VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (kind, id) DO " +
                     on_conflict,
                 credential.kind, credential.id, hex_text(credential.salt), credential.label, credential.role,
                 credential.token_hash ? std::optional(hex_text(*credential.token_hash)) : std::nullopt,
                 credential.revoked, credential.expires);
}

}  // namespace

Status write_credential(SqlConnection& connection, const Credential& credential) {
  FERRY_ASSIGN(const SqlResult result, insert(connection, credential, "NOTHING"));
  if (result.changed == 1) return {};
  return {ErrorCode::invalid_argument, format("there is a credential %s already", printable(credential.id).c_str())};
}

Status replace_credential(SqlConnection& connection, const Credential& credential) {
  return insert(connection, credential,
                "UPDATE SET salt = excluded.salt, label = excluded.label, role = excluded.role, "
                "token_hash = excluded.token_hash, revoked = excluded.revoked, expires = excluded.expires")
      .status();
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
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "SELECT kind, id, salt, label, role, token_hash, revoked, expires FROM credentials "
                       "ORDER BY kind, id"));
  std::vector<Credential> credentials;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    Credential& credential = credentials.emplace_back();
    credential.kind = row.number<CredentialKind>();
    credential.id = row.text();
    FERRY_ASSIGN(credential.salt, parse_bytes<KeySalt>(row.text()));
    credential.label = row.text();
    credential.role = row.number<Role>();
    if (!row.is_null()) {
      FERRY_ASSIGN(credential.token_hash, parse_bytes<TokenHash>(row.text()));
    }
    if (!row.is_null()) credential.revoked = row.time();
    if (!row.is_null()) credential.expires = row.time();
    FERRY_TRY(row.status());
    if (!is_kind(credential.kind) || !is_role(credential.role)) return damaged("kind or role");
  }
  return credentials;
}

}  // namespace ferry::farm
