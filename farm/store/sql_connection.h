// The interface of a database to the store: statements with parameters, and transactions. The statements are restricted
// to what SQLite and PostgreSQL both understand. Parameters are written $1, $2, ... and first appear in this order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "farm/core/schedule/clock.h"

namespace ferry::farm {

// Both databases have signed integers of 64 bits: identities are stored as the signed integer of the same bits.
using SqlBytes = std::vector<std::uint8_t>;
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, SqlBytes>;
using SqlRow = std::vector<SqlValue>;

struct SqlResult {
  std::vector<SqlRow> rows;
  std::uint64_t changed = 0;  // number of rows inserted, updated or deleted
};

enum class Access : std::uint8_t { read, write };

class SqlConnection {
 public:
  virtual ~SqlConnection() = default;

  // Runs one statement. It is prepared when it is run for the first time, so texts should be few.
  virtual Result<SqlResult> execute(const std::string& statement, std::span<const SqlValue> parameters) = 0;
  // A reading transaction sees one state of the database; a writing one excludes other writers.
  virtual Status begin(Access access) = 0;
  virtual Status commit() = 0;
  virtual void roll_back() = 0;
  // Holds the right to schedule until the connection ends, where the database knows such a right. Fails with busy if
  // another connection holds it.
  virtual Status lock_scheduling() = 0;
  // In a writing transaction: tells other trackers, once it is committed, that the right to schedule has a new holder,
  // where the database can (change_watch.h).
  virtual Status announce_change() = 0;
  virtual Result<Time> now() = 0;
  // How many more bytes the database can take so that others on its disk still have room. Nothing where only the
  // database's server knows.
  virtual Result<std::optional<std::uint64_t>> room() { return std::optional<std::uint64_t>(); }
};

template <class T>
SqlValue sql_value(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return std::string(value);
  }
}
inline SqlValue sql_value(const SqlBytes& bytes) { return bytes; }
inline SqlValue sql_value(Time time) { return std::int64_t{time.time_since_epoch().count()}; }
inline SqlValue sql_value(Duration duration) { return std::int64_t{duration.count()}; }
template <class T>
SqlValue sql_value(const std::optional<T>& value) {
  return value ? sql_value(*value) : SqlValue();
}

// Fails with invalid_argument if the name is longer than kMaxNameBytes.
Status expect_name(const std::string& name);

// Checks the texts among the parameters, then executes the statement.
Result<SqlResult> execute_checked(SqlConnection& connection, const std::string& statement,
                                  std::span<const SqlValue> parameters);

template <class... Values>
Result<SqlResult> execute(SqlConnection& connection, const std::string& statement, const Values&... values) {
  const std::initializer_list<SqlValue> parameters = {sql_value(values)...};
  return execute_checked(connection, statement, {parameters.begin(), parameters.size()});
}

// Rolls back when it goes out of scope, unless it was committed.
class Transaction {
 public:
  static Result<Transaction> begin(SqlConnection& connection, Access access);
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (connection_ != nullptr) connection_->roll_back();
  }

  Status commit();

 private:
  explicit Transaction(SqlConnection& connection) : connection_(&connection) {}

  SqlConnection* connection_;
};

// Runs `work`, which returns a Status or a Result, in a transaction, and commits it if it may write and has succeeded.
template <class Work>
auto in_transaction(SqlConnection& connection, Access access, const Work& work) -> decltype(work()) {
  FERRY_ASSIGN(Transaction transaction, Transaction::begin(connection, access));
  auto result = work();
  if constexpr (std::is_same_v<decltype(result), Status>) {
    FERRY_TRY(result);
  } else {
    FERRY_TRY(result.status());
  }
  if (access == Access::write) FERRY_TRY(transaction.commit());
  return result;
}

// Returns the number in the only row and column of a result. Fails with device_error if there is another shape.
Result<std::uint64_t> only_number(const SqlResult& result);

// Takes the columns of a row one after the other. A column of another type than expected, as in a damaged database,
// reads as 0 or empty, and status() says so.
class RowReader {
 public:
  explicit RowReader(const SqlRow& row) : row_(row) {}

  template <class T>
  T number() {
    return static_cast<T>(take<std::int64_t>());
  }
  double real() { return take<double>(); }
  std::string text() { return take<std::string>(); }
  SqlBytes bytes() { return take<SqlBytes>(); }
  Time time() { return Time(Duration(take<std::int64_t>())); }
  Duration duration() { return Duration(take<std::int64_t>()); }
  // Whether the next column is null, which is then skipped.
  bool is_null();

  Status status() const;

 private:
  template <class T>
  T take() {
    const T* value = next_ < row_.size() ? std::get_if<T>(&row_[next_]) : nullptr;
    ++next_;
    if (value == nullptr) has_failed_ = true;
    return value == nullptr ? T() : *value;
  }

  const SqlRow& row_;
  std::size_t next_ = 0;
  bool has_failed_ = false;
};

}  // namespace ferry::farm
