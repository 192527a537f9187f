// The JSON of the HTTP interface. Ids are decimal texts, because they use all 64 bits; times are milliseconds.
#pragma once

#include <string>

#include "base/status.h"
#include "farm/protocol/queries.h"

namespace ferry::farm::http {

std::string to_json(const wire::DevicePage& page);
std::string to_json(const wire::DeviceListing& board);
std::string to_json(const wire::QueuePage& page);
std::string to_json(const wire::LeasePage& page);
std::string to_json(const wire::HistoryPage& page);
std::string to_json(const wire::AuditPage& page);
std::string to_json(const wire::HealthPage& page);
std::string to_json(const wire::SessionPage& page);
std::string to_json(const wire::CredentialPage& page);
std::string to_json(const wire::KeyMade& made);
std::string to_json(const wire::TokenMade& made);
std::string to_json(const wire::Done& done);
// {"error":{"code":CODE,"message":MESSAGE}}
std::string error_json(std::string_view code, std::string_view message);

// The orders, from the bodies of requests. Fails with invalid_argument, which names the field: unknown ones are
// refused.
Result<wire::BoardOrder> parse_order_word(std::string_view word);
Result<wire::Role> parse_role_word(std::string_view word);
Result<wire::OrderBoard> parse_order_board(std::string_view body, const std::string& board);
Result<wire::EnrolBoard> parse_enrol_board(std::string_view body);
Result<wire::AddClient> parse_add_client(std::string_view body);
Result<wire::AddToken> parse_add_token(std::string_view body);
Result<wire::RevokeCredential> parse_revoke_credential(std::string_view body);
// The body of a request without fields: empty or {}.
Status parse_nothing(std::string_view body);

}  // namespace ferry::farm::http
