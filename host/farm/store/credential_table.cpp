#include "host/farm/store/credential_table.h"

#include "base/format.h"
#include "base/printable.h"
#include "ferry/hash.h"

namespace ferry::farm {
namespace {

using Bytes = std::array<std::uint8_t, 32>;

Result<Bytes> parse_hex(const std::string& text) {
  Bytes bytes{};
  const auto digit = [](char letter) {
    return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  };
  bool is_valid = text.size() == 2 * bytes.size();
  for (std::size_t i = 0; is_valid && i < bytes.size(); ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    is_valid = high >= 0 && low >= 0;
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (!is_valid) return Status(ErrorCode::device_error, "the database is damaged: a credential's bytes");
  return bytes;
}

}  // namespace

Status write_credential(SqlConnection& connection, const Credential& credential) {
  FERRY_TRY(expect_name(credential.id));
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "INSERT INTO credentials (kind, id, salt, label, role, token_hash, revoked) "
                       "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (kind, id) DO NOTHING",
                       credential.kind, credential.id, to_hex(credential.salt), credential.label, credential.role,
                       credential.token_hash ? std::optional(to_hex(*credential.token_hash)) : std::nullopt,
                       credential.revoked));
  if (result.changed == 1) return {};
  return {ErrorCode::invalid_argument, format("there is a credential %s already", printable(credential.id).c_str())};
}

Status write_revocation(SqlConnection& connection, CredentialKind kind, const std::string& id, Time at) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection, "UPDATE credentials SET revoked = COALESCE(revoked, $1) WHERE kind = $2 AND id = $3",
                       at, kind, id));
  if (result.changed == 1) return {};
  return {ErrorCode::not_found, format("there is no credential %s", printable(id).c_str())};
}

Result<std::vector<Credential>> read_credentials(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "SELECT kind, id, salt, label, role, token_hash, revoked FROM credentials "
                       "ORDER BY kind, id"));
  std::vector<Credential> credentials;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    Credential& credential = credentials.emplace_back();
    credential.kind = row.number<CredentialKind>();
    credential.id = row.text();
    FERRY_ASSIGN(credential.salt, parse_hex(row.text()));
    credential.label = row.text();
    credential.role = row.number<Role>();
    if (!row.is_null()) {
      FERRY_ASSIGN(credential.token_hash, parse_hex(row.text()));
    }
    if (!row.is_null()) credential.revoked = row.time();
    FERRY_TRY(row.status());
  }
  return credentials;
}

}  // namespace ferry::farm
