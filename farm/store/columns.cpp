#include "farm/store/columns.h"

namespace ferry::farm {

Result<SqlValue> column_value(const BoardDescription& description) {
  FERRY_ASSIGN(std::string text, description_text(description));
  return SqlValue(std::move(text));
}

Result<SqlValue> column_value(const std::map<std::string, std::string>& tags) {
  FERRY_ASSIGN(std::string text, tags_text(tags));
  return SqlValue(std::move(text));
}

Result<SqlValue> column_value(const std::vector<Selector>& slots) {
  FERRY_ASSIGN(std::string text, slots_text(slots));
  return SqlValue(std::move(text));
}

Status read_column(RowReader& row, double& field) {
  field = row.real();
  return {};
}

Status read_column(RowReader& row, std::string& field) {
  field = row.text();
  return {};
}

Status read_column(RowReader& row, SqlBytes& field) {
  field = row.bytes();
  return {};
}

Status read_column(RowReader& row, Time& field) {
  field = row.time();
  return {};
}

Status read_column(RowReader& row, Duration& field) {
  field = row.duration();
  return {};
}

Status read_column(RowReader& row, BoardDescription& description) {
  FERRY_ASSIGN(description, parse_description(row.text()));
  return {};
}

Status read_column(RowReader& row, std::map<std::string, std::string>& tags) {
  FERRY_ASSIGN(tags, parse_tags(row.text()));
  return {};
}

Status read_column(RowReader& row, std::vector<Selector>& slots) {
  FERRY_ASSIGN(slots, parse_slots(row.text()));
  return {};
}

std::string joined_columns(const std::vector<std::string>& names, const std::string& prefix) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + prefix + name;
  return text;
}

std::string upsert_text(const std::string& table, const std::vector<std::string>& names, std::size_t keys,
                        const std::string& on_conflict) {
  std::string values, update;
  for (std::size_t i = 0; i < names.size(); ++i) {
    values += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
    if (i >= keys) update += (i == keys ? "UPDATE SET " : ", ") + names[i] + " = excluded." + names[i];
  }
  return "INSERT INTO " + table + " (" + joined_columns(names) + ") VALUES (" + values + ") ON CONFLICT (" +
         joined_columns({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(keys)}) + ") DO " +
         (on_conflict.empty() ? update : on_conflict);
}

std::string append_text(const std::string& table, const std::vector<std::string>& names) {
  std::string values;
  for (std::size_t i = 0; i < names.size(); ++i) values += ", $" + std::to_string(i + 1);
  return "INSERT INTO " + table + " (number, " + joined_columns(names) + ") SELECT COALESCE(MAX(number), 0) + 1" +
         values + " FROM " + table;
}

}  // namespace ferry::farm
