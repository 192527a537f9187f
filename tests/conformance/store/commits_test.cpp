// Commits: terms, order, all or nothing, and what is read back.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <thread>

#include "tests/conformance/store/stores.h"
#include "tests/support/farm/describe.h"
#include "tests/support/farm/random_records.h"
#include "tests/support/farm/record_tables.h"

namespace ferry::test {
namespace {

using Commits = std::vector<farm::Persist>;

std::uint64_t persisted(const Result<farm::CommitOutcome>& outcome) {
  INFO(outcome.status().message());
  REQUIRE(outcome.is_ok());
  REQUIRE(std::holds_alternative<farm::Persisted>(outcome.value()));
  return std::get<farm::Persisted>(outcome.value()).commit;
}

std::string contents(farm::Store& store) {
  const Result<farm::Snapshot> snapshot = store.load();
  INFO(snapshot.status().message());
  REQUIRE(snapshot.is_ok());
  return describe(snapshot.value());
}

std::string expected_contents(const Commits& commits, std::uint64_t count) {
  RecordTables tables;
  for (std::uint64_t i = 0; i < count; ++i) tables.apply(commits[i].records);
  return describe(tables.snapshot());
}

farm::BoardRecord board_record(const std::string& name) {
  farm::BoardRecord board;
  board.id = farm::BoardId{1};
  board.description.name = name;
  return board;
}

// A board with one waiting request.
Commits small_farm(farm::TrackerTerm term) {
  farm::BoardRecord board = board_record("b1");
  farm::Request request{farm::LeaseId{7}, "ann", {farm::parse_selector("b1").value()}};
  return {{term, 1, {board}}, {term, 2, {farm::RequestRecord{request, farm::Time()}}}};
}

TEST_CASE("what a store holds after random commits in groups equals the tables in memory") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    auto store = fixture->open();
    const farm::TrackerTerm term = store->take_term().value();
    const Commits commits = RandomRecords(1).commits(term, 600);
    Random random(2);
    for (std::size_t done = 0; done < commits.size();) {
      const std::size_t count = std::min<std::size_t>(commits.size() - done, 1 + random.below(30));
      done += count;
      CHECK(persisted(store->apply({commits.data() + done - count, count})) == done);
      if (random.once_in(5)) REQUIRE(contents(*store) == expected_contents(commits, done));
      if (kind.is_database && random.once_in(10)) {
        store.reset();
        store = fixture->open();
      }
    }
    CHECK(contents(*store) == expected_contents(commits, commits.size()));
  }
}

TEST_CASE("a commit of an earlier term is refused and writes nothing") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    const farm::TrackerTerm first = store->take_term().value();
    const farm::TrackerTerm second = store->take_term().value();
    CHECK(store->current_term().value() == second);
    CHECK(first < second);
    const auto outcome = store->apply(small_farm(first));
    REQUIRE(outcome.is_ok());
    CHECK(std::holds_alternative<farm::TermLost>(outcome.value()));
    CHECK(contents(*store).empty());
    CHECK(persisted(store->apply(small_farm(second))) == 2);
  }
}

TEST_CASE("terms increase also when a store is opened again") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const farm::TrackerTerm first = fixture->open()->take_term().value();
    CHECK(first < fixture->open()->take_term().value());
  }
}

TEST_CASE("commits that are on disk already are skipped") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    const farm::TrackerTerm term = store->take_term().value();
    Commits commits = small_farm(term);
    commits.push_back({term, 3, {farm::EndRecord{farm::LeaseId{7}, farm::Time(), farm::EndReason::released, ""}}});
    CHECK(persisted(store->apply(commits)) == 3);
    commits.push_back({term, 4, {farm::EpochRecord{farm::BoardId{1}, 9}}});
    // The request has ended: another end of it would be refused.
    CHECK(persisted(store->apply(std::span(commits).subspan(2, 1))) == 3);
    CHECK(persisted(store->apply(std::span(commits).subspan(2, 2))) == 4);
    CHECK(persisted(store->apply(commits)) == 4);
    CHECK(store->load().value().boards.at(0).last_epoch == 9);
    CHECK(store->ended_leases({}).value().size() == 1);
  }
}

TEST_CASE("a record that contradicts the tables is refused with all commits of its transaction") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    const farm::TrackerTerm term = store->take_term().value();
    const farm::LeaseRecord unknown_board{farm::LeaseId{7}, {{farm::BoardId{99}, 1}}, {}, {}, 0, {}};
    for (const farm::Record& record : std::vector<farm::Record>{
             farm::EndRecord{farm::LeaseId{8}, farm::Time(), farm::EndReason::released, ""},
             farm::RollbackRecord{farm::LeaseId{7}}, farm::EpochRecord{farm::BoardId{2}, 1}, unknown_board}) {
      Commits commits = small_farm(term);
      commits.push_back({term, 3, {record}});
      const auto outcome = store->apply(commits);
      CHECK(outcome.status().code() == ErrorCode::internal);
      CHECK(contents(*store).empty());
    }
    CHECK(persisted(store->apply(small_farm(term))) == 2);
  }
}

TEST_CASE("what is no text, too long a text or no number is refused, and the largest text is kept") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    const farm::TrackerTerm term = store->take_term().value();
    const auto with_holder = [&](const std::string& holder) {
      return store->apply(Commits{{term, 1, {farm::HolderRecord{holder, 1, 0, {}}}}});
    };
    for (const std::string& text :
         {std::string("a\0b", 3), std::string("\xff"), std::string("\xc3"), std::string("\xed\xa0\x80"),
          std::string(farm::kMaxNameBytes + 1, 'x'), std::string(1 << 20, 'x')})
      CHECK(with_holder(text).status().code() == ErrorCode::invalid_argument);
    farm::BoardRecord board = board_record("\xff");
    CHECK(store->apply(Commits{{term, 1, {board}}}).status().code() == ErrorCode::invalid_argument);
    board.machine = std::string(farm::kMaxTextBytes + 1, 'x');
    board.description.name = "b1";
    CHECK(store->apply(Commits{{term, 1, {board}}}).status().code() == ErrorCode::invalid_argument);
    const farm::HolderRecord infinite{"ann", std::numeric_limits<double>::infinity(), 0, {}};
    CHECK(store->apply(Commits{{term, 1, {infinite}}}).status().code() == ErrorCode::invalid_argument);
    CHECK(contents(*store).empty());

    // Random, because what compresses well takes less than its place.
    std::string largest_name(farm::kMaxNameBytes, ' ');
    Random random(4);
    for (char& letter : largest_name) letter = static_cast<char>(' ' + random.below(95));
    board.machine = std::string(farm::kMaxTextBytes, '\'');
    board.description.name = std::string("a\0b", 3);
    CHECK(persisted(store->apply(Commits{{term, 1, {farm::HolderRecord{largest_name, 1, 0, {}}, board}}})) == 1);
    const farm::Snapshot snapshot = store->load().value();
    CHECK(snapshot.holders.at(0).holder == largest_name);
    CHECK(snapshot.boards.at(0).machine == board.machine);
    CHECK(snapshot.boards.at(0).description.name == board.description.name);
  }
}

// Commits in a process of its own, and writes a byte for each commit that the store has acknowledged.
pid_t start_committing(StoreFixture& fixture, const Commits& commits, int acknowledged) {
  const pid_t child = fork();
  if (child != 0) return child;
  const auto store = fixture.open();
  for (const farm::Persist& commit : commits) {
    const auto outcome = store->apply({&commit, 1});
    if (!outcome.is_ok() || !std::holds_alternative<farm::Persisted>(outcome.value())) _exit(1);
    if (write(acknowledged, "+", 1) != 1) _exit(1);
  }
  pause();
  _exit(0);
}

TEST_CASE("what was acknowledged survives a kill -9 in the middle of commits") {
  for (const StoreKind& kind : all_databases()) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(kind.name);
      CAPTURE(seed);
      const auto fixture = kind.make();
      const farm::TrackerTerm term = fixture->open()->take_term().value();
      const Commits commits = RandomRecords(seed).commits(term, 2000);
      int ends[2];
      REQUIRE(pipe(ends) == 0);
      const pid_t child = start_committing(*fixture, commits, ends[1]);
      close(ends[1]);
      std::uint64_t acknowledged = 0;
      char byte = 0;
      while (acknowledged < 3 * seed && read(ends[0], &byte, 1) == 1) ++acknowledged;
      std::this_thread::sleep_for(std::chrono::microseconds(Random(seed).below(3000)));
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      while (read(ends[0], &byte, 1) == 1) ++acknowledged;
      close(ends[0]);
      CHECK(acknowledged >= 3 * seed);

      const auto store = fixture->open();
      const std::string found = contents(*store);
      const bool is_prefix =
          found == expected_contents(commits, acknowledged) || found == expected_contents(commits, acknowledged + 1);
      CHECK(is_prefix);
    }
  }
}

}  // namespace
}  // namespace ferry::test
