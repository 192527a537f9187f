// A farm to measure: a database with boards and a client, and `ferry farm serve` on it as a process of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/farm/process.h"
#include "host/farm/client/farm_access.h"
#include "rpc/secure/key.h"
#include "tests/support/farm/postgres_server.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::bench {

enum class Database { sqlite, postgres };
inline const char* name_of(Database database) { return database == Database::sqlite ? "SQLite" : "PostgreSQL"; }
// As printf; for one number.
std::string text_of(const char* pattern, double value);

struct FarmOptions {
  std::string ferry, rpc_server, slow_fsync;  // the programs, and the library that makes a disk slow
  Database database = Database::sqlite;
  int fsync_ms = 0;  // added to each fsync
  std::size_t boards = 1;
  std::size_t busy = 0;  // so many of them have the tag "busy"
};

class BenchFarm {
 public:
  explicit BenchFarm(FarmOptions options);

  // With SIGKILL.
  void kill_tracker() { tracker_.reset(); }
  // Starts another one at the same address, and waits until it schedules.
  void start_again() { start_tracker(address_); }
  const Process& tracker() const { return *tracker_; }
  farm::FarmAccess access() const;
  // The file with the client's key, and "farm://127.0.0.1:9191/SELECTOR".
  const std::string& key_file() const { return key_file_; }
  std::string remote(const std::string& selector) const;
  const secure::Key& board_key(std::size_t board) const { return board_keys_[board]; }

  // Starts an rpc_server as this board.
  void start_board(std::size_t board);
  // An rpc_server that belongs to no farm, and admits the client; returns its address.
  std::string start_plain_server();
  // Until so many boards are connected and good. Throws after a minute.
  void wait_for_boards(std::size_t count) const;

 private:
  void fill_database();
  void start_tracker(const std::string& listen);

  FarmOptions options_;
  test::TemporaryFolder folder_;
  std::unique_ptr<test::PostgresServer> postgres_;
  std::string database_, master_file_, key_file_;
  secure::Key client_key_;
  std::vector<secure::Key> board_keys_;
  std::string address_;
  std::optional<Process> tracker_;
  std::vector<std::unique_ptr<Process>> servers_;
};

}  // namespace ferry::bench
