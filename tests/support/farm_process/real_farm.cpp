#include "tests/support/farm_process/real_farm.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "farm/client/farm_client.h"
#include "farm/protocol/lease_id.h"
#include "farm/store/postgres_store.h"
#include "farm/store/sqlite_store.h"
#include "farm/tracker/key_directory.h"

namespace ferry::test {
namespace {

void must(const Status& status) {
  if (!status.is_ok()) throw std::runtime_error(status.message());
}

template <class T>
T must(Result<T> result) {
  must(result.status());
  return std::move(result.value());
}

}  // namespace

RealFarm::RealFarm(RealFarmOptions options)
    : options_(std::move(options)),
      network_(options_.client_hosts == 0 ? nullptr : std::make_unique<VirtualNetwork>(database_host() + 1)),
      visit_(network_ ? std::make_unique<HostVisit>(network_->namespace_of(0)) : nullptr),
      master_file_(folder_.file("farm.key")),
      key_file_(folder_.file("client.key")) {
  std::ofstream(folder_.file("farm.toml")) << "[health]\nchecks = false\n";
  open_database();
  fill_database();
  trackers_.resize(options_.trackers);
  for (std::size_t i = 0; i < options_.trackers; ++i) start_tracker(i);
  wait_until_scheduling();
}

void RealFarm::open_database() {
  if (options_.database == Database::sqlite) {
    database_ = options_.folder.empty() ? folder_.file("farm.db") : options_.folder + "/farm.db";
    return;
  }
  // It is PostgreSQL that writes to the disk, not the tracker.
  if (options_.fsync_ms > 0) {
    setenv("LD_PRELOAD", options_.slow_fsync.c_str(), 1);
    setenv("FERRY_FSYNC_MS", std::to_string(options_.fsync_ms).c_str(), 1);
  }
  std::optional<PostgresServer::Host> host;
  if (network_)
    host = {network_->namespace_of(database_host()), VirtualNetwork::address(database_host()), VirtualNetwork::kSubnet};
  postgres_ = std::make_unique<PostgresServer>(PostgresServer::Sync::on, std::move(host));
  unsetenv("LD_PRELOAD");
  unsetenv("FERRY_FSYNC_MS");
  database_ = postgres_->make_database();
}

void RealFarm::fill_database() {
  auto store = options_.database == Database::postgres ? must(farm::open_postgres_store(database_))
                                                       : std::move(must(farm::open_sqlite_store(database_)).store);
  const secure::Key master = secure::make_key();
  must(secure::write_key_file(master_file_, master));
  const farm::KeyDirectory keys(master);
  farm::Persist boards{must(store->take_term()), 1, {}};
  for (std::size_t i = 0; i < options_.boards; ++i) {
    farm::BoardRecord board;
    board.id = farm::BoardId{i + 1};
    board.description.name = "b" + std::to_string(i);
    board.shares_machine = true;  // all are on this one
    if (i < options_.busy) board.enrolled_tags["busy"] = "";
    const auto credential =
        farm::KeyDirectory::make(farm::CredentialKind::board, i + 1, board.description.name, farm::Role::user);
    board_keys_.push_back(keys.key_of(credential));
    must(store->add_credential(credential));
    boards.records.emplace_back(std::move(board));
  }
  must(store->apply({&boards, 1}).status());
  const auto client =
      farm::KeyDirectory::make(farm::CredentialKind::client, farm::random_id(), "somebody", farm::Role::admin);
  client_key_ = keys.key_of(client);
  must(store->add_credential(client));
  must(secure::write_key_file(key_file_, client_key_));
}

void RealFarm::start_tracker(std::size_t tracker) {
  Tracker& one = trackers_[tracker];
  std::vector<std::string> environment;
  if (options_.fsync_ms > 0)
    environment = {"LD_PRELOAD=" + options_.slow_fsync, "FERRY_FSYNC_MS=" + std::to_string(options_.fsync_ms)};
  one.process = std::make_unique<Process>(
      std::vector<std::string>{options_.ferry, "farm", "serve", "--listen",
                               one.address.empty() ? listening_address(tracker_host(tracker)) + ":0" : one.address,
                               "--http", "127.0.0.1:0", "--database", database_, "--key-file", master_file_, "--config",
                               folder_.file("farm.toml")},
      folder_.file("tracker" + std::to_string(tracker) + ".log"), environment, namespace_of(tracker_host(tracker)));
  const std::string rest = one.process->wait_for("tracker at ");
  one.address = rest.substr(0, rest.find(','));
}

void RealFarm::wait_until_scheduling(std::size_t tracker) const { trackers_[tracker].process->wait_for("scheduling "); }

std::string RealFarm::addresses() const {
  std::string all;
  for (const Tracker& tracker : trackers_) all += (all.empty() ? "" : ",") + tracker.address;
  return all;
}

farm::FarmAccess RealFarm::access() const {
  return {"farm", must(farm::parse_trackers(addresses())), client_key_, key_file_, "a client"};
}

std::string RealFarm::remote(const std::string& selector) const { return "farm://" + addresses() + "/" + selector; }

std::string RealFarm::page_url(std::size_t tracker) const {
  const std::string url = trackers_[tracker].process->wait_for("page at ");
  return url.substr(0, url.rfind('/'));
}

void RealFarm::set_board_key(std::size_t board, const secure::Key& key) const {
  must(secure::write_key_file(board_key_file(board), key));
}

void RealFarm::start_board(std::size_t board, const std::string& trackers) {
  const std::string name = "b" + std::to_string(board), key = board_key_file(board);
  if (!std::filesystem::exists(key)) set_board_key(board, board_keys_.at(board));
  boards_[board] = std::make_unique<Process>(
      std::vector<std::string>{options_.rpc_server, "--host", listening_address(board_host(board)), "--port", "0",
                               "--farm", trackers.empty() ? addresses() : trackers, "--farm-key", key, "--workdir",
                               folder_.file(name), "--threads", "1"},
      folder_.file(name + ".log"), std::vector<std::string>(), namespace_of(board_host(board)));
}

std::string RealFarm::board_log(std::size_t board) const {
  std::ifstream file(folder_.file("b" + std::to_string(board) + ".log"));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string RealFarm::start_plain_server() {
  plain_server_ = std::make_unique<Process>(
      std::vector<std::string>{options_.rpc_server, "--port", "0", "--key-file", key_file_, "--threads", "1"},
      folder_.file("plain.log"));
  return plain_server_->wait_for("rpc_server listening on ");
}

void RealFarm::wait_for_boards(std::size_t count) const {
  farm::FarmClient connection(access());
  std::size_t ready = 0;
  for (int i = 0; i < 600; ++i) {
    ready = 0;
    farm::wire::ListDevices query;
    for (bool has_more = true; has_more;) {
      const auto page = connection.ask(query);
      if (!page.is_ok()) break;  // the tracker may be starting
      for (const auto& device : page.value().devices) ready += device.is_connected && device.state == "good" ? 1 : 0;
      has_more = page.value().has_more;
      if (has_more) query.after = page.value().devices.back().name;
    }
    if (ready >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw std::runtime_error("expected " + std::to_string(count) + " boards, got " + std::to_string(ready));
}

}  // namespace ferry::test
