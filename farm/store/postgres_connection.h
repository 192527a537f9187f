// A connection to a database of PostgreSQL, which begin() makes anew after it was lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/status.h"
#include "farm/store/libpq_api.h"
#include "farm/store/sql_connection.h"
#include "farm/store/store.h"

namespace ferry::farm {

class PostgresConnection final : public SqlConnection {
 public:
  // Writing transactions exclude those of the same kind alone. The values are numbers of advisory locks.
  enum class Writers : std::uint8_t { of_leases = 2, of_modules = 3 };
  // The right to schedule is lost after a silence of `right_lasts`.
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& uri, Writers writers = Writers::of_leases,
                                                          std::chrono::milliseconds right_lasts = Store::kRightLasts);
  // Gives up the right to schedule, if it has that, and announces it.
  ~PostgresConnection() override;

  Result<SqlResult> execute(const std::string& statement, std::span<const SqlValue> parameters) override;
  Status begin(Access access) override;
  Status commit() override;
  void roll_back() override;
  // An advisory lock of the session. If the connection is lost, the next one takes it again as soon as it is free;
  // meanwhile the term alone keeps others out.
  Status lock_scheduling() override;
  Status announce_change() override;
  Result<Time> now() override;

  // From here on take_changes() hears of the changes that others announce, once there is input at the socket.
  Status listen();
  int socket() const { return api_.PQsocket(connection_); }
  // Returns whether a change was announced since the last call. Fails with unavailable if the connection is lost.
  Result<bool> take_changes();

 private:
  // Frees the result when it goes out of scope.
  struct Answer;

  PostgresConnection(const LibpqApi& api, std::string uri, Writers writers, std::chrono::milliseconds right_lasts)
      : api_(api),
        uri_(std::move(uri)),
        right_lasts_(right_lasts),
        begin_write_("BEGIN; SELECT pg_advisory_xact_lock(1717924466, " + std::to_string(static_cast<int>(writers)) +
                     ")") {}

  // Must not be called in a transaction: what follows would be committed without what came before.
  Status ensure_connected() { return is_connected() ? Status() : connect(); }
  bool is_connected() const { return connection_ != nullptr && api_.PQstatus(connection_) == CONNECTION_OK; }
  Status connect();
  Status set_up();
  void disconnect();
  Result<bool> try_lock();
  // Runs statements without parameters, separated by semicolons; returns the last one's answer.
  Answer send(const char* statements);
  Status run(const char* statements);
  Result<const char*> prepare(const std::string& statement, std::span<const SqlValue> parameters);
  Status failure(const PGresult* result) const;

  const LibpqApi api_;
  const std::string uri_;
  const std::chrono::milliseconds right_lasts_;
  const std::string begin_write_;
  PGconn* connection_ = nullptr;
  bool wants_lock_ = false;
  bool has_lock_ = false;
  std::unordered_map<std::string, std::string> prepared_;  // the names of statements
};

}  // namespace ferry::farm
