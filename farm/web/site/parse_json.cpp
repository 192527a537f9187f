#include <nlohmann/json.hpp>
#include <set>

#include "base/printable.h"
#include "base/utf8.h"
#include "farm/web/site/json.h"
#include "farm/web/site/json_names.h"

namespace ferry::farm::http {
namespace {

using Json = nlohmann::json;

Status unexpected(const std::string& message) { return {ErrorCode::invalid_argument, message}; }

// An object, whose fields are taken out one after the other.
class Fields {
 public:
  static Result<Fields> parse(std::string_view body) {
    Json json = Json::parse(body.begin(), body.end(), nullptr, false);
    if (!json.is_object()) return unexpected("expected a JSON object, got something else");
    return Fields(std::move(json));
  }

  Result<std::string> text(const char* name, std::size_t limit) {
    const Json value = take(name);
    if (!value.is_string()) return wrong(name, "a text", value);
    return checked(name, value.get<std::string>(), limit);
  }
  Result<std::string> optional_text(const char* name, std::size_t limit) {
    return json_.contains(name) ? text(name, limit) : Result<std::string>(std::string());
  }

  // 0 if it is not there.
  Result<std::uint64_t> optional_number(const char* name) {
    if (!json_.contains(name)) return std::uint64_t{0};
    const Json value = take(name);
    if (!value.is_number_unsigned()) return wrong(name, "a whole number from 0", value);
    return value.get<std::uint64_t>();
  }

  Result<bool> optional_bool(const char* name) {
    if (!json_.contains(name)) return false;
    const Json value = take(name);
    if (!value.is_boolean()) return wrong(name, "true or false", value);
    return value.get<bool>();
  }

  template <class T, std::size_t N>
  Result<T> word(const char* name, const std::array<Word<T>, N>& words) {
    FERRY_ASSIGN(const std::string text, this->text(name, wire::kMaxName));
    std::string expected;
    for (const Word<T>& word : words) {
      if (word.first == text) return word.second;
      expected += (expected.empty() ? "" : ", ") + std::string(word.first);
    }
    return unexpected(std::string(name) + ": expected one of " + expected + ", got '" + printable(text) + "'");
  }

  Result<std::vector<wire::Label>> optional_labels(const char* name) {
    std::vector<wire::Label> labels;
    if (!json_.contains(name)) return labels;
    const Json value = take(name);
    if (!value.is_object()) return wrong(name, "an object of texts", value);
    if (value.size() > wire::kMaxTags) {
      return unexpected(std::string(name) + ": expected at most " + std::to_string(wire::kMaxTags) + " entries, got " +
                        std::to_string(value.size()));
    }
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) return wrong(name, "an object of texts", text);
      FERRY_ASSIGN(const std::string checked_key, checked(name, key, wire::kMaxName));
      FERRY_ASSIGN(const std::string checked_text, checked(name, text.template get<std::string>(), wire::kMaxText));
      labels.push_back({checked_key, checked_text});
    }
    return labels;
  }

  // Fails if there are fields that nobody has taken.
  Status end() const {
    if (json_.empty()) return {};
    return unexpected("expected no field '" + printable(json_.begin().key().substr(0, wire::kMaxName)) + "'");
  }

 private:
  explicit Fields(Json json) : json_(std::move(json)) {}

  Json take(const char* name) {
    const auto found = json_.find(name);
    if (found == json_.end()) return Json(Json::value_t::discarded);
    Json value = std::move(*found);
    json_.erase(found);
    return value;
  }

  static Status wrong(const char* name, const char* expected, const Json& value) {
    const std::string got = value.is_discarded() ? "nothing" : value.type_name();
    return unexpected(std::string(name) + ": expected " + expected + ", got " + got);
  }

  static Result<std::string> checked(const char* name, std::string text, std::size_t limit) {
    if (text.size() <= limit && is_utf8(text)) return text;
    return unexpected(std::string(name) + ": expected at most " + std::to_string(limit) + " bytes of UTF-8, got " +
                      std::to_string(text.size()));
  }

  Json json_;
};

}  // namespace

Result<wire::BoardOrder> parse_order_word(std::string_view word) {
  for (const auto& [text, order] : kOrders) {
    if (text == word) return order;
  }
  return unexpected("order: expected one of maintain, retire, return, got '" +
                    printable(word.substr(0, wire::kMaxName)) + "'");
}

Result<wire::Role> parse_role_word(std::string_view word) {
  for (const auto& [text, role] : kRoles) {
    if (text == word) return role;
  }
  return unexpected("role: expected one of viewer, user, admin, got '" + printable(word.substr(0, wire::kMaxName)) +
                    "'");
}

Result<wire::OrderBoard> parse_order_board(std::string_view body, const std::string& board) {
  FERRY_ASSIGN(Fields fields, Fields::parse(body));
  wire::OrderBoard order{board, {}};
  FERRY_ASSIGN(order.order, fields.word("order", kOrders));
  FERRY_TRY(fields.end());
  return order;
}

Result<wire::EnrolBoard> parse_enrol_board(std::string_view body) {
  FERRY_ASSIGN(Fields fields, Fields::parse(body));
  wire::EnrolBoard enrol;
  FERRY_ASSIGN(enrol.name, fields.text("name", wire::kMaxName));
  FERRY_ASSIGN(enrol.tags, fields.optional_labels("tags"));
  FERRY_ASSIGN(enrol.machine, fields.optional_text("machine", wire::kMaxName));
  FERRY_ASSIGN(enrol.shares_machine, fields.optional_bool("shares_machine"));
  FERRY_TRY(fields.end());
  return enrol;
}

Result<wire::AddClient> parse_add_client(std::string_view body) {
  FERRY_ASSIGN(Fields fields, Fields::parse(body));
  wire::AddClient add;
  FERRY_ASSIGN(add.holder, fields.text("holder", wire::kMaxText));
  FERRY_ASSIGN(add.role, fields.word("role", kRoles));
  FERRY_TRY(fields.end());
  return add;
}

Result<wire::AddToken> parse_add_token(std::string_view body) {
  FERRY_ASSIGN(Fields fields, Fields::parse(body));
  wire::AddToken add;
  FERRY_ASSIGN(add.holder, fields.text("holder", wire::kMaxText));
  FERRY_ASSIGN(add.role, fields.word("role", kRoles));
  FERRY_ASSIGN(add.lasts_ms, fields.optional_number("lasts_ms"));
  FERRY_TRY(fields.end());
  return add;
}

Result<wire::RevokeCredential> parse_revoke_credential(std::string_view body) {
  FERRY_ASSIGN(Fields fields, Fields::parse(body));
  wire::RevokeCredential revoke;
  FERRY_ASSIGN(revoke.kind, fields.word("kind", kCredentialKinds));
  FERRY_ASSIGN(revoke.name, fields.text("name", wire::kMaxText));
  FERRY_TRY(fields.end());
  return revoke;
}

Status parse_nothing(std::string_view body) {
  if (body.empty()) return {};
  FERRY_ASSIGN(const Fields fields, Fields::parse(body));
  return fields.end();
}

}  // namespace ferry::farm::http
