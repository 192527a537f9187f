#include "host/text/listing.h"

#include <cstdio>
#include <ctime>

#include "base/quantity_text.h"

namespace ferry::cli {

Listing::Listing(const char* schema, const char* name, const std::vector<Column>& columns)
    : schema_(schema), name_(name), columns_(columns), rows_(1) {
  for (const Column& column : columns_)
    if (*column.title != 0) rows_.front().emplace_back(column.title);
}

void Listing::add(const std::string& text, const Json& json) {
  if (next_ == 0) {
    rows_.emplace_back();
    entries_.push_back(Json::object());
  }
  const Column& column = columns_[next_];
  if (*column.title != 0) rows_.back().push_back(text);
  entries_.back()[column.key] = json;
  next_ = (next_ + 1) % columns_.size();
}

void Listing::add(const std::string& text) { add(text, text); }

void Listing::add_number(std::uint64_t number) { add(std::to_string(number), number); }

void Listing::add_decimal(double number, const std::string& text) { add(text, number); }

void Listing::add_flag(bool flag) { add(flag ? "yes" : "no", flag); }

void Listing::add_nothing() { add("-", nullptr); }

void Listing::add_unless_empty(const std::string& text) {
  if (text.empty()) return add_nothing();
  add(text);
}

void Listing::add_list(const std::vector<std::string>& texts) { add(texts.empty() ? "-" : join(", ", texts), texts); }

void Listing::add_time(std::optional<std::uint64_t> unix_ms) {
  std::tm parts{};
  const std::time_t seconds = static_cast<std::time_t>(unix_ms.value_or(0) / 1000);
  if (!unix_ms || gmtime_r(&seconds, &parts) == nullptr) return add_nothing();
  char text[64], json[64];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  strftime(json, sizeof json, "%Y-%m-%dT%H:%M:%SZ", &parts);
  add(text, json);
}

void Listing::add_span(std::optional<std::uint64_t> ms) {
  if (!ms) return add_nothing();
  add_decimal(static_cast<double>(*ms) * 1e-3, span_text(*ms));
}

void Listing::print(bool as_json, const std::string& empty) const {
  if (as_json) {
    print_json({{"schema", schema_}, {name_, entries_}});
  } else if (entries_.empty()) {
    printf("%s\n", empty.c_str());
  } else {
    print_columns(rows_);
  }
}

std::string span_text(std::uint64_t ms) {
  const std::uint64_t minutes = ms / 60'000;
  if (minutes < 2) return ferry::seconds_text(static_cast<double>(ms) * 1e-3);
  if (minutes < 120) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + format("%02u min", static_cast<unsigned>(minutes % 60));
}

}  // namespace ferry::cli
