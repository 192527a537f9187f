// A farm of processes: `ferry farm serve` on a database with boards and a client, and rpc_server as boards. All of them
// are on loopback, or each on a host of its own on a virtual network, and end with this object.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "farm/client/farm_access.h"
#include "farm/store/credential.h"
#include "rpc/secure/key.h"
#include "tests/support/farm/postgres_server.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/farm_process/process.h"
#include "tests/support/farm_process/virtual_network.h"

namespace ferry::test {

enum class Database { sqlite, postgres };

struct RealFarmOptions {
  std::string ferry, rpc_server, slow_fsync;  // the programs, and the library that makes a disk slow
  Database database = Database::sqlite;
  int fsync_ms = 0;  // added to each fsync
  std::size_t boards = 1;
  std::size_t busy = 0;      // so many of them have the tag "busy"
  std::size_t trackers = 1;  // on the same database
  std::string folder = {};   // the database's folder; empty: a temporary one
  // With clients, everything is on a virtual network: also each tracker, each board and PostgreSQL. The thread that
  // makes the farm is on the network's host 0 as long as the farm lives.
  std::size_t client_hosts = 0;
};

class RealFarm {
 public:
  explicit RealFarm(RealFarmOptions options);

  const Process& tracker(std::size_t tracker = 0) const { return *trackers_[tracker].process; }
  // "http://127.0.0.1:8080"
  std::string page_url(std::size_t tracker = 0) const;

  // Only with client_hosts.
  const VirtualNetwork& network() const { return *network_; }
  std::size_t tracker_host(std::size_t tracker) const { return 1 + tracker; }
  std::size_t board_host(std::size_t board) const { return 1 + options_.trackers + board; }
  std::size_t client_host(std::size_t client) const { return 1 + options_.trackers + options_.boards + client; }
  std::size_t database_host() const { return client_host(options_.client_hosts); }
  // -1 on loopback. For Process.
  int namespace_of(std::size_t host) const { return network_ ? network_->namespace_of(host) : -1; }

  // With SIGKILL.
  void kill_tracker(std::size_t tracker = 0) { trackers_[tracker].process.reset(); }
  // At the same address as before. Returns once it listens; it may stand by.
  void start_tracker(std::size_t tracker = 0);
  void wait_until_scheduling(std::size_t tracker = 0) const;

  // The administrator, and "farm://127.0.0.1:9191,127.0.0.1:9192/SELECTOR".
  farm::FarmAccess access() const;
  const std::string& key_file() const { return key_file_; }
  std::string remote(const std::string& selector) const;
  const secure::Key& board_key(std::size_t board) const { return board_keys_[board]; }
  const std::string& database() const { return database_; }
  PostgresServer& postgres() { return *postgres_; }
  std::string file(const std::string& name) const { return folder_.file(name); }

  // Puts the secret of its enrolment into the key file of a board, which need not be one of the options'.
  void set_board_key(std::size_t board, const secure::Key& key) const;
  // Starts an rpc_server as this board, which dials `trackers` if that is not empty.
  void start_board(std::size_t board, const std::string& trackers = "");
  const Process& board(std::size_t board) const { return *boards_.at(board); }
  // The logs of all processes that have been this board.
  std::string board_log(std::size_t board) const;
  void kill_board(std::size_t board) { boards_.erase(board); }
  // An rpc_server that belongs to no farm, and admits the client; returns its address.
  std::string start_plain_server();
  // Until so many boards are connected and good. Throws after a minute.
  void wait_for_boards(std::size_t count) const;

 private:
  struct Tracker {
    std::string address;
    std::unique_ptr<Process> process;
  };

  void open_database();
  void fill_database();
  std::string board_key_file(std::size_t board) const { return folder_.file("b" + std::to_string(board) + ".key"); }
  std::string addresses() const;

  std::string listening_address(std::size_t host) const {
    return network_ ? VirtualNetwork::address(host) : "127.0.0.1";
  }

  RealFarmOptions options_;
  std::unique_ptr<VirtualNetwork> network_;
  std::unique_ptr<HostVisit> visit_;
  TemporaryFolder folder_;
  std::unique_ptr<PostgresServer> postgres_;
  std::string database_, master_file_, key_file_;
  secure::Key client_key_;
  std::vector<secure::Key> board_keys_;
  std::vector<Tracker> trackers_;
  std::map<std::size_t, std::unique_ptr<Process>> boards_;
  std::unique_ptr<Process> plain_server_;
};

}  // namespace ferry::test
