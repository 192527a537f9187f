#include "farm/json/shown_fields.h"

#include <algorithm>

#include "base/hex.h"
#include "base/quantity_text.h"
#include "farm/protocol/lease_id.h"

namespace ferry::farm {
namespace {

// What a tracker sends may be any number.
std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::clamp(value, 0.0, 1e18)); }

std::string cell_of(double value, fields::Quantity kind) {
  using Print = fields::Quantity::Print;
  switch (kind.print) {
    case Print::span: return span_text(whole(value));
    case Print::time: return time_text(whole(value));
    case Print::seconds: return seconds_text(value / kind.divisor);
    case Print::celsius: return format("%.1f C", value / kind.divisor);
    case Print::decimal: return format("%.2f", value / kind.divisor);
  }
  return "";
}

bool has_role(wire::CredentialKind kind) {
  return kind == wire::CredentialKind::client || kind == wire::CredentialKind::token;
}

}  // namespace

void FieldWriter::add(std::string_view name, text::Json json, std::string cell) const {
  into_.push_back({std::string(name), std::move(json), std::move(cell)});
}

void FieldWriter::add_text(std::string_view name, const std::string& text) const {
  text.empty() ? add(name, nullptr, "-") : add(name, text, text);
}

void FieldWriter::add_flag(std::string_view name, bool flag) const {
  add(name.starts_with("is_") ? name.substr(3) : name, flag, flag ? "yes" : "no");
}

void FieldWriter::add_quantity(std::string_view name, std::optional<double> value, fields::Quantity kind) const {
  const std::string shown = std::string(name.substr(0, name.size() - kind.suffix.size())) + std::string(kind.shown);
  // A measurement of nothing has failed.
  if (!value || (kind.print == fields::Quantity::Print::seconds && *value == 0)) return add(shown, nullptr, "-");
  const bool is_time = kind.print == fields::Quantity::Print::time;
  add(shown, is_time ? text::Json(iso_time_text(whole(*value))) : text::Json(*value / kind.divisor),
      cell_of(*value, kind));
}

void FieldWriter::operator()(std::string_view name, const std::vector<std::string>& texts, fields::Texts) const {
  add(name, texts, texts.empty() ? "-" : join(", ", texts));
}

void FieldWriter::operator()(std::string_view name, std::uint64_t id, fields::Id) const {
  add_text(name, id == 0 ? "" : lease_text(id));
}

void FieldWriter::operator()(std::string_view name, const secure::KeyBytes& key, fields::Bytes) const {
  add_text(name, hex_text(key));
}

void FieldWriter::operator()(std::string_view name, const std::vector<wire::Label>& labels, fields::Labels) const {
  text::Json json = text::Json::object();
  for (const wire::Label& label : labels) json[label.name] = label.value;
  add(name, std::move(json), "");
}

void complete_fields(const wire::HistoryListing& lease, std::vector<ShownField>& shown) {
  const bool has_started = lease.started_ms && *lease.started_ms <= lease.ended_ms;
  const FieldWriter writer(shown);
  writer("had_ms", has_started ? std::optional(lease.ended_ms - *lease.started_ms) : std::nullopt, fields::kSpan);
  shown.back().name = "seconds";
}

void complete_fields(const wire::CredentialListing& credential, std::vector<ShownField>& fields) {
  if (has_role(credential.kind)) return;
  field_of(fields, "role") = {"role", nullptr, "-"};
}

ShownField& field_of(std::vector<ShownField>& fields, std::string_view name) {
  return *std::ranges::find(fields, name, &ShownField::name);
}

text::Json to_json(const std::vector<ShownField>& fields) {
  text::Json json = text::Json::object();
  for (const ShownField& field : fields) json[field.name] = field.json;
  return json;
}

}  // namespace ferry::farm
