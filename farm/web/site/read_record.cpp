#include "farm/web/site/read_record.h"

#include <cmath>
#include <utility>

#include "base/printable.h"
#include "base/utf8.h"
#include "farm/protocol/lease_id.h"

namespace ferry::farm::http {

FieldReader::FieldReader(const Parameters& parameters) : object_(nlohmann::json::object()), is_body_(false) {
  for (const auto& [name, value] : parameters) object_.emplace(name, value);
}

// Without a body there may be no field for it either.
FieldReader::FieldReader(std::string_view body)
    : object_(body.empty() ? nlohmann::json() : nlohmann::json::parse(body.begin(), body.end(), nullptr, false)),
      is_body_(true) {
  if (!body.empty() && !object_.is_object()) expect_object();
}

void FieldReader::operator()(std::string_view name, bool& flag) {
  const nlohmann::json value = take(name);
  if (value.is_discarded()) return;
  if (!value.is_boolean()) return refuse_type(name, "true or false", value);
  flag = value.get<bool>();
}

void FieldReader::operator()(std::string_view name, std::string& text, fields::Text kind) {
  // What is too long in a path or a parameter is found when the request is encoded.
  const bool is_checked = is_body_ && argument_ == nullptr;
  const nlohmann::json value = take(name);
  if (value.is_discarded() && (kind.is_optional || !is_body_)) return;
  if (!value.is_string()) return refuse_type(name, "a text", value);
  text = value.get<std::string>();
  if (is_checked) check_text(name, text, kind.most);
}

void FieldReader::operator()(std::string_view name, std::uint64_t& id, fields::Id) {
  const nlohmann::json value = take(name);
  if (!value.is_string() || value.get<std::string>().empty()) return;
  const Result<std::uint64_t> parsed = parse_lease(value.get<std::string>().substr(0, wire::kMaxName));
  if (!parsed.is_ok()) return refuse(name, parsed.status().message());
  id = parsed.value();
}

void FieldReader::operator()(std::string_view name, std::uint64_t& number, fields::Quantity kind) {
  // A whole number that a double holds exactly.
  constexpr double kMost = 9007199254740992.0;
  const std::string shown = std::string(name.substr(0, name.size() - kind.suffix.size())) + std::string(kind.shown);
  const nlohmann::json value = take(shown);
  if (value.is_discarded()) return;
  if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() * kind.divisor <= kMost))
    return refuse_type(shown, "a number from 0", value);
  number = static_cast<std::uint64_t>(std::llround(value.get<double>() * kind.divisor));
}

void FieldReader::operator()(std::string_view name, std::vector<wire::Label>& labels, fields::Labels kind) {
  const nlohmann::json value = take(name);
  if (value.is_discarded()) return;
  if (!value.is_object()) return refuse_type(name, "an object of texts", value);
  if (value.size() > kind.most) {
    return refuse(name,
                  "expected at most " + std::to_string(kind.most) + " entries, got " + std::to_string(value.size()));
  }
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return refuse_type(name, "an object of texts", text);
    check_text(name, key, wire::kMaxName);
    check_text(name, text.get<std::string>(), wire::kMaxText);
    labels.push_back({key, text.get<std::string>()});
  }
}

Status FieldReader::end() const {
  if (!status_.is_ok() || !is_body_ || object_.empty()) return status_;
  return {ErrorCode::invalid_argument,
          "expected no field '" + printable(object_.begin().key().substr(0, wire::kMaxName)) + "'"};
}

nlohmann::json FieldReader::take(std::string_view name) {
  if (argument_ != nullptr) return *std::exchange(argument_, nullptr);
  if (object_.is_null()) expect_object();
  const auto found = object_.is_object() ? object_.find(std::string(name)) : object_.end();
  if (found == object_.end()) return nlohmann::json(nlohmann::json::value_t::discarded);
  nlohmann::json value = std::move(*found);
  object_.erase(found);
  return value;
}

std::uint64_t FieldReader::read_number(std::string_view name, std::uint64_t most) {
  const nlohmann::json value = take(name);
  if (!value.is_string() || value.get<std::string>().empty()) return 0;
  const std::string text = value.get<std::string>();
  const auto number = parse_decimal(text);
  if (number && *number <= most) return *number;
  refuse(name, "expected a decimal number up to " + std::to_string(most) + ", got '" +
                   printable(text.substr(0, wire::kMaxName)) + "'");
  return 0;
}

void FieldReader::expect_object() { fail("expected a JSON object, got something else"); }

void FieldReader::fail(const std::string& message) {
  if (status_.is_ok()) status_ = Status(ErrorCode::invalid_argument, message);
}

void FieldReader::refuse(std::string_view name, const std::string& what) { fail(std::string(name) + ": " + what); }

void FieldReader::refuse_word(std::string_view name, const std::string& expected, const std::string& got) {
  refuse(name, "expected one of " + expected + ", got '" + printable(got.substr(0, wire::kMaxName)) + "'");
}

void FieldReader::refuse_type(std::string_view name, const char* expected, const nlohmann::json& value) {
  refuse(name, std::string("expected ") + expected + ", got " + (value.is_discarded() ? "nothing" : value.type_name()));
}

void FieldReader::check_text(std::string_view name, const std::string& text, std::size_t most) {
  if (text.size() <= most && is_utf8(text)) return;
  refuse(name, "expected at most " + std::to_string(most) + " bytes of UTF-8, got " + std::to_string(text.size()));
}

}  // namespace ferry::farm::http
