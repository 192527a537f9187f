#include "farm/store/database_thread.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

#include "tests/support/farm/hooked_store.h"
#include "tests/support/farm/memory_store.h"

namespace ferry::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr farm::TrackerTerm kTerm{1};

// A database's thread over a store in memory. Its first transaction waits until the gate opens.
struct Fixture {
  explicit Fixture(milliseconds retry_delay = milliseconds(1)) {
    auto memory = std::make_unique<MemoryStore>();
    REQUIRE(memory->take_term().value() == kTerm);
    auto store = std::make_unique<HookedStore>(std::move(memory), [this](std::span<const farm::Persist> commits) {
      is_open.wait();
      groups.emplace_back();
      for (const farm::Persist& commit : commits) groups.back().push_back(commit.commit);
      return before_commit();
    });
    const auto on_outcome = [this](farm::TrackerTerm term, const Result<farm::CommitOutcome>& outcome) {
      terms.push_back(term);
      outcomes.push_back(outcome);
    };
    thread = std::make_unique<farm::DatabaseThread>(std::move(store), on_outcome, retry_delay);
  }

  Status commit(std::uint64_t number, farm::TrackerTerm term = kTerm) { return thread->commit({term, number, {}}); }
  // Waits until the first transaction has begun, so that what is committed from now on waits for its end.
  void begin() {
    REQUIRE(commit(1).is_ok());
    std::this_thread::sleep_for(milliseconds(20));
  }
  // Returns how many transactions have ended before the job.
  std::size_t run_job() {
    std::promise<std::size_t> count;
    REQUIRE(thread->run([&](farm::Store&) { count.set_value(outcomes.size()); }).is_ok());
    return count.get_future().get();
  }
  void finish() {
    gate.set_value();
    thread.reset();
  }
  std::uint64_t persisted(std::size_t outcome) const {
    return std::get<farm::Persisted>(outcomes.at(outcome).value()).commit;
  }

  std::promise<void> gate;
  std::shared_future<void> is_open = gate.get_future();
  std::function<Status()> before_commit = [] { return Status(); };
  // Written by the database's thread, read after its end.
  std::vector<std::vector<std::uint64_t>> groups;
  std::vector<farm::TrackerTerm> terms;
  std::vector<Result<farm::CommitOutcome>> outcomes;
  std::unique_ptr<farm::DatabaseThread> thread;
};

TEST_CASE("all commits that wait share one transaction, in order") {
  Fixture fixture;
  fixture.begin();
  for (std::uint64_t number = 2; number <= 100; ++number) CHECK(fixture.commit(number).is_ok());
  fixture.finish();
  REQUIRE(fixture.groups.size() == 2);
  CHECK(fixture.groups[0] == std::vector<std::uint64_t>{1});
  CHECK(fixture.groups[1].size() == 99);
  CHECK(std::is_sorted(fixture.groups[1].begin(), fixture.groups[1].end()));
  CHECK(fixture.persisted(0) == 1);
  CHECK(fixture.persisted(1) == 100);
}

TEST_CASE("commits of different terms never share a transaction") {
  Fixture fixture;
  fixture.begin();
  CHECK(fixture.commit(2).is_ok());
  CHECK(fixture.commit(1, farm::TrackerTerm{2}).is_ok());
  fixture.finish();
  REQUIRE(fixture.groups.size() == 3);
  CHECK(fixture.terms == std::vector{kTerm, kTerm, farm::TrackerTerm{2}});
  CHECK(std::holds_alternative<farm::Persisted>(fixture.outcomes[1].value()));
  CHECK(std::holds_alternative<farm::TermLost>(fixture.outcomes[2].value()));
}

TEST_CASE("commits that fail for lack of room are tried again together with those that came since, and none is lost") {
  Fixture fixture;
  int failures = 3;
  fixture.before_commit = [&] {
    return failures-- > 0 ? Status(ErrorCode::resource_exhausted, "the disk is full") : Status();
  };
  fixture.begin();
  CHECK(fixture.commit(2).is_ok());
  fixture.gate.set_value();
  while (fixture.run_job() < 4) std::this_thread::yield();
  fixture.thread.reset();
  CHECK(fixture.groups.front() == std::vector<std::uint64_t>{1});
  CHECK(fixture.groups.back() == std::vector<std::uint64_t>{1, 2});
  CHECK(fixture.outcomes[2].status().code() == ErrorCode::resource_exhausted);
  CHECK(fixture.persisted(3) == 2);
}

TEST_CASE("after a failure that does not pass nothing more is committed") {
  Fixture fixture;
  fixture.before_commit = [] { return Status(ErrorCode::device_error, "the database is damaged"); };
  fixture.begin();
  CHECK(fixture.commit(2).is_ok());
  fixture.gate.set_value();
  fixture.run_job();
  CHECK(fixture.commit(3).message() == "the database is damaged");
  fixture.thread.reset();
  CHECK(fixture.groups.size() == 1);
}

TEST_CASE("jobs run while commits wait to be tried again") {
  Fixture fixture(seconds(1000));
  fixture.before_commit = [] { return Status(ErrorCode::unavailable, "the database does not answer"); };
  fixture.begin();
  fixture.gate.set_value();
  fixture.run_job();
  fixture.thread.reset();
  CHECK(fixture.groups.size() == 2);
}

TEST_CASE("more commits or jobs than the limits are refused") {
  Fixture fixture;
  fixture.begin();
  for (std::uint64_t number = 2; number <= farm::DatabaseThread::kMaxCommits; ++number)
    REQUIRE(fixture.commit(number).is_ok());
  CHECK(fixture.commit(99'999).code() == ErrorCode::busy);
  std::atomic<std::size_t> jobs = 0;
  for (std::size_t i = 0; i < farm::DatabaseThread::kMaxJobs; ++i)
    REQUIRE(fixture.thread->run([&](farm::Store&) { ++jobs; }).is_ok());
  CHECK(fixture.thread->run([&](farm::Store&) { ++jobs; }).code() == ErrorCode::busy);
  fixture.finish();
  CHECK(fixture.persisted(1) == farm::DatabaseThread::kMaxCommits);
  CHECK(jobs == farm::DatabaseThread::kMaxJobs);
}

}  // namespace
}  // namespace ferry::test
