#include "farm/store/sql_connection.h"

#include <cmath>

#include "base/format.h"
#include "base/utf8.h"
#include "farm/store/store.h"

namespace ferry::farm {
namespace {

Status check_value(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number))
    return {ErrorCode::invalid_argument, format("expected a finite number, got %g", *number)};
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return {};
  if (text->size() > kMaxTextBytes)
    return {ErrorCode::invalid_argument,
            format("expected a text of at most %zu bytes, got %zu", kMaxTextBytes, text->size())};
  if (!is_utf8(*text) || text->find('\0') != std::string::npos)
    return {ErrorCode::invalid_argument, "expected UTF-8 without NUL, got other bytes"};
  return {};
}

}  // namespace

Status expect_name(const std::string& name) {
  if (name.size() <= kMaxNameBytes) return {};
  return {ErrorCode::invalid_argument,
          format("expected a name of at most %zu bytes, got %zu", kMaxNameBytes, name.size())};
}

Result<SqlResult> execute_checked(SqlConnection& connection, const std::string& statement,
                                  std::span<const SqlValue> parameters) {
  for (const SqlValue& value : parameters) FERRY_TRY(check_value(value));
  return connection.execute(statement, parameters);
}

Result<Transaction> Transaction::begin(SqlConnection& connection, Access access) {
  FERRY_TRY(connection.begin(access));
  return Transaction(connection);
}

Status Transaction::commit() {
  FERRY_TRY(connection_->commit());
  connection_ = nullptr;
  return {};
}

Result<std::uint64_t> only_number(const SqlResult& result) {
  if (result.rows.size() != 1) return Status(ErrorCode::device_error, "the database is damaged: expected one number");
  RowReader row(result.rows.front());
  const auto number = row.number<std::uint64_t>();
  FERRY_TRY(row.status());
  return number;
}

bool RowReader::is_null() {
  const bool is_null = next_ < row_.size() && std::holds_alternative<std::monostate>(row_[next_]);
  if (is_null) ++next_;
  return is_null;
}

Status RowReader::status() const {
  if (!has_failed_ && next_ == row_.size()) return {};
  return {ErrorCode::device_error, "the database is damaged: a column has an unexpected type"};
}

}  // namespace ferry::farm
