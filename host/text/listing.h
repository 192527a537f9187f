// Lists that commands print as a table for people or as JSON for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/text/columns.h"
#include "host/text/json.h"

namespace ferry::cli {

class Listing {
 public:
  struct Column {
    const char* title;  // empty: the table lacks it
    const char* key;
  };
  // The JSON is {"schema": schema, name: [{key: ..., ...}, ...]}. The columns must outlive this object.
  Listing(const char* schema, const char* name, const std::vector<Column>& columns);

  // These append a cell. After one for each column, the next row begins.
  void add(const std::string& text);
  void add(const std::string& text, const Json& json);
  void add_number(std::uint64_t number);
  void add_decimal(double number, const std::string& text);
  void add_flag(bool flag);
  void add_nothing();                                    // "-" and null
  void add_unless_empty(const std::string& text);        // otherwise nothing
  void add_list(const std::vector<std::string>& texts);  // "a, b" and ["a", "b"]
  void add_time(std::optional<std::uint64_t> unix_ms);   // "2026-11-24 09:31:05" in UTC
  void add_span(std::optional<std::uint64_t> ms);        // "3.2 s", "1 h 05 min", and seconds

  // `empty` is what people read in place of a table without rows.
  void print(bool as_json, const std::string& empty) const;

 private:
  const char* schema_;
  const char* name_;
  const std::vector<Column>& columns_;
  std::size_t next_ = 0;  // column
  Rows rows_;
  Json entries_ = Json::array();
};

// Returns "3.2 s", "15 min" or "1 h 05 min".
std::string span_text(std::uint64_t ms);

}  // namespace ferry::cli
