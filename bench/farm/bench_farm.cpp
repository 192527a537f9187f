#include "bench/farm/bench_farm.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "host/farm/client/tracker_connection.h"
#include "host/farm/store/postgres_store.h"
#include "host/farm/store/sqlite_store.h"
#include "host/farm/tracker/key_directory.h"

namespace ferry::bench {
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

std::string text_of(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

BenchFarm::BenchFarm(FarmOptions options)
    : options_(std::move(options)), master_file_(folder_.file("farm.key")), key_file_(folder_.file("client.key")) {
  if (options_.database == Database::postgres) {
    if (options_.fsync_ms > 0) {
      setenv("LD_PRELOAD", options_.slow_fsync.c_str(), 1);
      setenv("FERRY_FSYNC_MS", std::to_string(options_.fsync_ms).c_str(), 1);
    }
    postgres_ = std::make_unique<test::PostgresServer>(test::PostgresServer::Sync::on);
    unsetenv("LD_PRELOAD");
    unsetenv("FERRY_FSYNC_MS");
    database_ = postgres_->make_database();
  } else {
    database_ = folder_.file("farm.db");
  }
  std::ofstream(folder_.file("farm.toml")) << "[health]\nchecks = false\n";
  fill_database();
  start_tracker("127.0.0.1:0");
}

void BenchFarm::fill_database() {
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
    if (i < options_.busy) board.enrolled_tags["busy"] = "";
    const auto credential =
        farm::KeyDirectory::make(farm::CredentialKind::board, i + 1, board.description.name, farm::Role::user);
    board_keys_.push_back(keys.key_of(credential));
    must(store->add_credential(credential));
    boards.records.emplace_back(std::move(board));
  }
  must(store->apply({&boards, 1}).status());
  const auto client =
      farm::KeyDirectory::make(farm::CredentialKind::client, farm::random_id(), "bench", farm::Role::admin);
  client_key_ = keys.key_of(client);
  must(store->add_credential(client));
  must(secure::write_key_file(key_file_, client_key_));
}

void BenchFarm::start_tracker(const std::string& listen) {
  std::vector<std::string> environment;
  if (options_.fsync_ms > 0)
    environment = {"LD_PRELOAD=" + options_.slow_fsync, "FERRY_FSYNC_MS=" + std::to_string(options_.fsync_ms)};
  tracker_.emplace(std::vector<std::string>{options_.ferry, "farm", "serve", "--listen", listen, "--http",
                                            "127.0.0.1:0", "--database", database_, "--key-file", master_file_,
                                            "--config", folder_.file("farm.toml")},
                   folder_.file("tracker.log"), environment);
  const std::string rest = tracker_->wait_for("tracker at ");
  address_ = rest.substr(0, rest.find(','));
  tracker_->wait_for("scheduling ");
}

farm::FarmAccess BenchFarm::access() const {
  return {"bench", {must(parse_tcp_address(address_, 0))}, client_key_, key_file_, "ferry_farm_bench"};
}

std::string BenchFarm::remote(const std::string& selector) const { return "farm://" + address_ + "/" + selector; }

void BenchFarm::start_board(std::size_t board) {
  const std::string name = "b" + std::to_string(board), key = folder_.file(name + ".key");
  must(secure::write_key_file(key, board_keys_[board]));
  servers_.push_back(std::make_unique<Process>(
      std::vector<std::string>{options_.rpc_server, "--port", "0", "--farm", address_, "--farm-key", key, "--workdir",
                               folder_.file(name), "--threads", "1"},
      folder_.file(name + ".log")));
}

std::string BenchFarm::start_plain_server() {
  servers_.push_back(std::make_unique<Process>(
      std::vector<std::string>{options_.rpc_server, "--port", "0", "--key-file", key_file_, "--threads", "1"},
      folder_.file("plain.log")));
  return servers_.back()->wait_for("rpc_server listening on ");
}

void BenchFarm::wait_for_boards(std::size_t count) const {
  farm::TrackerConnection connection(access());
  std::size_t ready = 0;
  for (int i = 0; i < 600; ++i) {
    ready = 0;
    farm::wire::ListDevices query;
    for (;;) {
      const auto page = must(connection.ask(query));
      for (const auto& device : page.devices) ready += device.is_connected && device.state == "good" ? 1 : 0;
      if (!page.has_more) break;
      query.after = page.devices.back().name;
    }
    if (ready >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw std::runtime_error("expected " + std::to_string(count) + " boards, got " + std::to_string(ready));
}

}  // namespace ferry::bench
