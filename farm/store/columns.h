// The columns of a record's table are the fields of its list (base/fields.h), in that order, and named like them unless
// the list or kRenamedColumns names another column. Keys, descriptions and lists but those of hashes, which have a
// table of their own, are texts (record_text.h).
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/hex.h"
#include "farm/store/filter.h"
#include "farm/store/record_text.h"
#include "farm/store/sql_connection.h"
#include "ferry/hash.h"

namespace ferry::farm {

template <class T>
Result<SqlValue> column_value(const T& field) {
  return sql_value(field);
}
template <std::size_t N>
Result<SqlValue> column_value(const std::array<std::uint8_t, N>& bytes) {
  return SqlValue(hex_text(bytes));
}
template <class T>
Result<SqlValue> column_value(const std::optional<T>& field) {
  return field ? column_value(*field) : Result<SqlValue>(SqlValue());
}
inline Result<SqlValue> column_value(const SqlBytes& bytes) { return SqlValue(bytes); }
Result<SqlValue> column_value(const BoardDescription& description);
Result<SqlValue> column_value(const std::map<std::string, std::string>& tags);
Result<SqlValue> column_value(const std::vector<Selector>& slots);

template <class T>
  requires std::integral<T> || std::is_enum_v<T>
Status read_column(RowReader& row, T& field) {
  field = row.number<T>();
  return {};
}
Status read_column(RowReader& row, double& field);
Status read_column(RowReader& row, std::string& field);
Status read_column(RowReader& row, SqlBytes& field);
Status read_column(RowReader& row, Time& field);
Status read_column(RowReader& row, Duration& field);
Status read_column(RowReader& row, BoardDescription& description);
Status read_column(RowReader& row, std::map<std::string, std::string>& tags);
Status read_column(RowReader& row, std::vector<Selector>& slots);
template <std::size_t N>
Status read_column(RowReader& row, std::array<std::uint8_t, N>& bytes) {
  if (parse_hex(row.text(), bytes)) return {};
  return {ErrorCode::device_error, "the database is damaged: expected hexadecimal digits in a column"};
}
template <class T>
Status read_column(RowReader& row, std::optional<T>& field) {
  return row.is_null() ? Status() : read_column(row, field.emplace());
}

// The columns of a record that the wire has too, where they are not called like the fields.
struct RenamedColumn {
  std::string_view field, column;
};
template <class Record>
inline constexpr std::array<RenamedColumn, 0> kRenamedColumns{};

template <class Record>
std::string_view column_of(std::string_view field) {
  for (const RenamedColumn& renamed : kRenamedColumns<Record>)
    if (renamed.field == field) return renamed.column;
  return field;
}

// Calls visit(column, field) for each column. The fields of a struct are columns too.
template <class Record, class Visit>
void visit_columns(Record& record, const Visit& visit) {
  std::remove_const_t<Record>::visit_fields(record, [&visit](std::string_view name, auto& field, const auto&... kind) {
    using Kind = std::tuple<std::decay_t<decltype(kind)>...>;
    if constexpr (std::is_same_v<Kind, std::tuple<fields::Nested>>) {
      visit_columns(field, visit);
    } else if constexpr (std::is_same_v<Kind, std::tuple<fields::Column>>) {
      visit((kind.name, ...), field);
    } else if constexpr (!std::is_same_v<std::decay_t<decltype(field)>, std::vector<Hash>>) {
      visit(column_of<std::remove_const_t<Record>>(name), field);
    }
  });
}

template <HasFields Record>
std::vector<std::string> column_names() {
  std::vector<std::string> names;
  const Record record{};
  visit_columns(record, [&names](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}
// "a, b, c", or "t.a, t.b, t.c".
std::string joined_columns(const std::vector<std::string>& names, const std::string& prefix = "");
// INSERT, with $1 and so on in the order of the columns. If there is a row with the same values of the first `keys`
// columns, this one takes its place, or `on_conflict` happens.
std::string upsert_text(const std::string& table, const std::vector<std::string>& names, std::size_t keys,
                        const std::string& on_conflict = "");
// Inserts a row whose `number` is greater than all others.
std::string append_text(const std::string& table, const std::vector<std::string>& names);

template <HasFields Record>
Result<SqlResult> execute_with(SqlConnection& connection, const std::string& statement, const Record& record) {
  std::vector<SqlValue> values;
  Status status;
  visit_columns(record, [&](std::string_view, const auto& field) {
    Result<SqlValue> value = column_value(field);
    if (value.is_ok()) {
      values.push_back(std::move(value.value()));
    } else if (status.is_ok()) {
      status = value.status();
    }
  });
  FERRY_TRY(status);
  return execute_checked(connection, statement, values);
}

template <HasFields Record>
Status upsert(SqlConnection& connection, const std::string& table, const Record& record, std::size_t keys = 1) {
  static const std::vector<std::string> kNames = column_names<Record>();
  return execute_with(connection, upsert_text(table, kNames, keys), record).status();
}
template <HasFields Record>
Status append(SqlConnection& connection, const std::string& table, const Record& record) {
  static const std::vector<std::string> kNames = column_names<Record>();
  return execute_with(connection, append_text(table, kNames), record).status();
}

// Takes the record's columns from the row, which may have more.
template <HasFields Record>
Status read_columns(RowReader& row, Record& record) {
  Status status;
  visit_columns(record, [&](std::string_view, auto& field) {
    const Status read = read_column(row, field);
    if (status.is_ok()) status = read;
  });
  return status;
}

// Reads the records of the rows that the end of a SELECT finds.
template <HasFields Record>
Result<std::vector<Record>> read_rows(SqlConnection& connection, const std::string& table, const std::string& end,
                                      std::span<const SqlValue> parameters = {}) {
  static const std::string kColumns = joined_columns(column_names<Record>());
  FERRY_ASSIGN(const SqlResult result,
               execute_checked(connection, "SELECT " + kColumns + " FROM " + table + end, parameters));
  std::vector<Record> records;
  records.reserve(result.rows.size());
  for (const SqlRow& values : result.rows) {
    RowReader row(values);
    FERRY_TRY(read_columns(row, records.emplace_back()));
    FERRY_TRY(row.status());
  }
  return records;
}
template <HasFields Record>
Result<std::vector<Record>> read_rows(SqlConnection& connection, const std::string& table, const Filter& filter) {
  return read_rows<Record>(connection, table, filter.text(), filter.parameters());
}

}  // namespace ferry::farm
