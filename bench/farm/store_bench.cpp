// Measures how many leases a second the database of a tracker can record, through its thread: a lease is two commits,
// of its grant and of its end, and the second waits for the first. Prints a table in Markdown.
//
//   ferry_store_bench [SECONDS]      for each figure; 3 if absent

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "farm/store/database_thread.h"
#include "farm/store/postgres_store.h"
#include "farm/store/sqlite_store.h"
#include "tests/support/farm/hooked_store.h"
#include "tests/support/farm/postgres_server.h"

namespace {

using namespace ferry;
using Clock = std::chrono::steady_clock;

farm::Persist enrolment(farm::TrackerTerm term, std::uint64_t boards) {
  farm::Persist commit{term, 1, {}};
  for (std::uint64_t i = 0; i < boards; ++i) {
    farm::BoardRecord board;
    board.id = farm::BoardId{i};
    board.description.name = "b" + std::to_string(i);
    board.description.model = "rpi4";
    commit.records.emplace_back(board);
  }
  return commit;
}

std::vector<farm::Record> grant(std::uint64_t lease, std::uint64_t board) {
  farm::Request request{farm::LeaseId{lease},
                        "holder" + std::to_string(board),
                        {farm::parse_selector("rpi4").value()},
                        50,
                        std::chrono::hours(1),
                        std::chrono::hours(1)};
  const farm::Time now(std::chrono::hours(500'000));
  return {farm::RequestRecord{request, now}, farm::EpochRecord{farm::BoardId{board}, lease},
          farm::LeaseRecord{request.id, {{farm::BoardId{board}, lease}}, now, now + request.length, 0, now}};
}

std::vector<farm::Record> end(std::uint64_t lease, std::uint64_t board) {
  const farm::Time now(std::chrono::hours(500'000));
  return {farm::HoldTimeRecord{farm::BoardId{board}, 1.5},
          farm::EndRecord{farm::LeaseId{lease}, now, farm::EndReason::released, ""},
          farm::HolderRecord{"holder" + std::to_string(board), 1, 12.5, now}};
}

// Clients, each with a board, that take leases one after the other.
class Load {
 public:
  Load(std::unique_ptr<farm::Store> store, std::uint64_t clients) : term_(store->take_term().value()) {
    const farm::Persist boards = enrolment(term_, clients);
    if (!store->apply({&boards, 1}).is_ok()) std::exit(1);
    thread_ = std::make_unique<farm::DatabaseThread>(
        std::move(store), [this](farm::TrackerTerm, const Result<farm::CommitOutcome>& outcome) { note(outcome); });
    for (std::uint64_t board = 0; board < clients; ++board) commit(board);
  }

  // Returns leases a second.
  double run(Clock::duration duration) {
    const auto start = Clock::now(), stop = start + duration;
    std::unique_lock lock(mutex_);
    while (Clock::now() < stop) {
      wake_.wait(lock, [this] { return !written_.empty(); });
      const std::uint64_t board = written_.front();
      written_.pop_front();
      lock.unlock();
      commit(board);
      lock.lock();
    }
    const double leases = static_cast<double>(commits_written_) / 2;
    const std::chrono::duration<double> taken = Clock::now() - start;
    lock.unlock();
    thread_.reset();
    return leases / taken.count();
  }

 private:
  void commit(std::uint64_t board) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t step = steps_[board]++, lease = board << 32 | step / 2;
    in_flight_.push_back(board);
    if (!thread_->commit({term_, ++last_commit_, step % 2 == 0 ? grant(lease, board) : end(lease, board)}).is_ok())
      std::exit(1);
  }

  void note(const Result<farm::CommitOutcome>& outcome) {
    if (!outcome.is_ok()) {
      std::fprintf(stderr, "%s\n", outcome.status().message().c_str());
      std::exit(1);
    }
    const std::lock_guard lock(mutex_);
    const std::uint64_t persisted = std::get<farm::Persisted>(outcome.value()).commit;
    for (; first_in_flight_ <= persisted; ++first_in_flight_, ++commits_written_) {
      written_.push_back(in_flight_.front());
      in_flight_.pop_front();
    }
    wake_.notify_one();
  }

  farm::TrackerTerm term_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t last_commit_ = 1, first_in_flight_ = 2, commits_written_ = 0;
  std::map<std::uint64_t, std::uint64_t> steps_;  // commits of each board
  std::deque<std::uint64_t> in_flight_, written_;
  std::unique_ptr<farm::DatabaseThread> thread_;
};

void measure(const char* database, const std::function<std::unique_ptr<farm::Store>()>& open,
             std::chrono::milliseconds delay, Clock::duration duration) {
  double figures[2] = {};
  for (const std::uint64_t clients : {1, 32}) {
    auto store = std::make_unique<test::HookedStore>(open(), [delay](std::span<const farm::Persist>) {
      if (delay.count() > 0) std::this_thread::sleep_for(delay);
      return Status();
    });
    figures[clients == 1 ? 0 : 1] = Load(std::move(store), clients).run(duration);
  }
  std::printf("| %s | %lld ms | %.0f/s | %.0f/s |\n", database, static_cast<long long>(delay.count()), figures[0],
              figures[1]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto duration = std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 3);
  if (argc > 2 || duration.count() < 1) {
    std::fprintf(stderr, "usage: ferry_store_bench [SECONDS]: expected a whole number from 1 on\n");
    return 2;
  }
  const test::TemporaryFolder folder;
  int files = 0;
  const auto sqlite = [&] {
    return std::move(farm::open_sqlite_store(folder.file(std::to_string(files++) + ".db")).value().store);
  };
  test::PostgresServer server(test::PostgresServer::Sync::on);
  const auto postgres = [&] { return std::move(farm::open_postgres_store(server.make_database()).value()); };
  std::printf(
      "| database | added to each fsync | leases, in sequence | with 32 clients |\n| --- | --- | --- | --- |\n");
  for (const auto delay : {std::chrono::milliseconds(0), std::chrono::milliseconds(10)}) {
    measure("SQLite", sqlite, delay, duration);
    measure("PostgreSQL", postgres, delay, duration);
  }
  return 0;
}
