#include "host/tune/records/record_set.h"

#include "tests/unit/host/tune/records/sample_record.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ferry;
using test::hash_of_all;
using test::sample_record;
using tune::Outcome;
using tune::Place;
using tune::TuneRecord;

namespace {

TuneRecord with_code(TuneRecord record, std::uint8_t code) {
  record.code = hash_of_all(code);
  return record;
}

TuneRecord failed(std::uint8_t code, Outcome outcome, std::int64_t unix_ms) {
  TuneRecord record = with_code(sample_record(1, unix_ms), code);
  record.outcome = outcome;
  record.time.reset();
  return record;
}

// Beside a default that was as many times as slow.
TuneRecord on_a_slow_day(TuneRecord record, double times) {
  record.default_time->seconds *= times;
  record.default_time->high *= times;
  return record;
}

}  // namespace

TEST_CASE("the best record took the smallest share of the default's time in its own run") {
  const TuneRecord slow = with_code(sample_record(2e-6, 1), 10), fast = with_code(sample_record(1e-6, 2), 11),
                   slow_day = on_a_slow_day(with_code(sample_record(1.5e-6, 3), 12), 2);
  CHECK(tune::share_of_default(slow) == doctest::Approx(0.8));
  CHECK(tune::best_record({slow, fast}, slow.key) == fast);
  CHECK(tune::best_record({slow, fast, slow_day}, slow.key) == slow_day);
  CHECK_FALSE(tune::best_record({}, slow.key));
}

TEST_CASE("of equal records the newest is the best") {
  const TuneRecord older = sample_record(1e-6, 1), newer = sample_record(1e-6, 2);
  CHECK(tune::best_record({newer, older}, older.key) == newer);
  CHECK(tune::best_record({older, newer}, older.key) == newer);
}

TEST_CASE("records of other programs, schedules and devices do not compete") {
  const TuneRecord own = sample_record(2e-6);
  TuneRecord program = sample_record(1e-6), schedule = program, cpu = program, threads = program, function = program;
  program.key.program = hash_of_all(9);
  schedule.key.schedule.reset();
  cpu.key.device.cpu = "znver3";
  threads.key.device.threads = 4;
  CHECK(tune::best_record({own, program, schedule, cpu, threads}, own.key) == own);
  function.function = "another name";
  CHECK(tune::best_record({own, function}, own.key) == function);
}

TEST_CASE("code that ever failed is not chosen, nor what was measured beside another default") {
  const TuneRecord slow = with_code(sample_record(2e-6, 5), 10), fast = with_code(sample_record(1e-6, 2), 11);
  for (const Outcome outcome : {Outcome::crashed, Outcome::hung, Outcome::wrong})
    for (const std::int64_t time : {1, 9})
      CHECK(tune::best_record({slow, fast, failed(11, outcome, time)}, slow.key) == slow);
  for (const Outcome outcome : {Outcome::refused, Outcome::too_slow})
    CHECK(tune::best_record({slow, fast, failed(11, outcome, 9)}, slow.key) == fast);
  TuneRecord older = fast;
  older.default_code = hash_of_all(99);
  CHECK(tune::best_record({older, slow}, slow.key) == slow);
  older.unix_ms = 6;
  CHECK(tune::best_record({older, slow}, slow.key) == older);
  CHECK_FALSE(tune::best_record({fast, failed(11, Outcome::wrong, 9)}, slow.key));
}

TEST_CASE("the newest comparison of a point takes the place of what was found of it before") {
  const auto confirmed = [](TuneRecord record, const std::string& value) {
    record.values = {value};
    record.confirmed = true;
    return record;
  };
  const TuneRecord fast = confirmed(sample_record(1e-6, 1), "14x2"), slower = confirmed(sample_record(2e-6, 2), "4x2"),
                   slow_again = with_code(confirmed(sample_record(2.6e-6, 3), "14x2"), 9);
  CHECK(tune::best_record({fast, slower}, fast.key) == fast);
  CHECK(tune::best_record({fast, slower, slow_again}, fast.key) == slower);
  CHECK(tune::best_record({slow_again, fast}, fast.key) == slow_again);
  TuneRecord once = slow_again;
  once.confirmed = false;
  CHECK(tune::best_record({fast, once}, fast.key) == fast);
}

namespace {

TuneRecord confirmed(double seconds, std::int64_t unix_ms, const std::string& value, const Place& place = {}) {
  TuneRecord record = sample_record(seconds, unix_ms);
  record.values = {value};
  record.confirmed = true;
  if (!place.network.empty()) record.environment["network"] = place.network;
  if (!place.graph.empty()) record.environment["network_graph"] = place.graph;
  return record;
}

const Place kResnet{"resnet", {}}, kMobilenet{"mobilenet", {}}, kNoted{"net", {}};

}  // namespace

TEST_CASE("what a network found about a kernel is lost nowhere, and decides in this network alone") {
  // The default takes 2.5 us.
  const TuneRecord alone = confirmed(1e-6, 1, "14x2"), slower_there = confirmed(3e-6, 2, "14x2", kResnet),
                   other_alone = confirmed(2e-6, 3, "4x2"), faster_there = confirmed(2.2e-6, 4, "8x2", kResnet);
  const std::vector<TuneRecord> all{alone, slower_there, other_alone, faster_there};
  CHECK(tune::best_record(all, alone.key) == alone);
  CHECK(tune::best_record(all, alone.key, kMobilenet) == alone);
  CHECK(tune::best_record(all, alone.key, kResnet) == faster_there);
  // Without a faster one there, what was only compared by itself is taken, and else what is slower.
  CHECK(tune::best_record({alone, slower_there, other_alone}, alone.key, kResnet) == other_alone);
  CHECK(tune::best_record({alone, slower_there}, alone.key, kResnet) == slower_there);
  CHECK(tune::best_record({slower_there, alone}, alone.key) == alone);
  // A kernel that was never compared by itself takes what networks found.
  CHECK(tune::best_record({slower_there, faster_there}, alone.key) == faster_there);
  // A newer comparison in the same place counts, whatever the order of the lines.
  const TuneRecord again = confirmed(2e-6, 5, "14x2", kResnet);
  CHECK(tune::best_record({again, alone, slower_there, faster_there}, alone.key, kResnet) == again);
  CHECK(tune::best_record({again, alone, slower_there}, alone.key) == alone);
}

TEST_CASE("a comparison that cannot tell whether a point is faster comes after one that can") {
  // The default takes 2.5 us.
  TuneRecord doubtful = confirmed(1e-6, 1, "14x2");
  doubtful.time->high = 2.6e-6;
  const TuneRecord faster = confirmed(2e-6, 2, "4x2");
  CHECK_FALSE(tune::is_faster_than_default(doubtful));
  CHECK(tune::is_faster_than_default(faster));
  CHECK_FALSE(tune::is_faster_than_default(failed(3, Outcome::crashed, 3)));
  CHECK(tune::best_record({doubtful, faster}, faster.key) == faster);
  CHECK(tune::best_record({doubtful}, doubtful.key) == doubtful);
}

TEST_CASE("networks of one name have places of their own, but share what was noted under their name alone") {
  const Place first{"net", "0123456789abcdef"}, second{"net", "fedcba9876543210"};
  const TuneRecord alone = confirmed(2e-6, 1, "4x2"), in_first = confirmed(1e-6, 2, "14x2", first),
                   slower = confirmed(3e-6, 3, "4x2", first), noted = confirmed(1.5e-6, 4, "8x2", {"net", {}});
  CHECK(tune::best_record({alone, in_first, slower}, alone.key, first) == in_first);
  CHECK(tune::best_record({alone, slower}, alone.key, first) == slower);
  CHECK(tune::best_record({alone, slower}, alone.key, second) == alone);
  CHECK(tune::best_record({alone, noted}, alone.key, first) == noted);
  CHECK(tune::best_record({alone, noted}, alone.key, second) == noted);
  // The newer one of a comparison in the network itself and one under its name decides.
  const TuneRecord again = confirmed(2.2e-6, 5, "8x2", second), older = confirmed(1e-6, 3, "8x2", second);
  CHECK(tune::best_record({noted, again}, alone.key, second) == again);
  CHECK(tune::best_record({noted, again}, alone.key, first) == noted);
  CHECK(tune::best_record({noted, older}, alone.key, second) == noted);
}

TEST_CASE(
    "a record's place is its network's name with the hash of its operators, which records of earlier versions lack") {
  TuneRecord record = sample_record(1e-6, 1);
  CHECK(tune::place_of(record) == Place());
  tune::set_place(record, {"net", "0123456789abcdef"});
  CHECK(tune::place_of(record) == Place{"net", "0123456789abcdef"});
  record.environment.erase("network_graph");
  CHECK(tune::place_of(record) == kNoted);
}

TEST_CASE("the best records and those that pruning keeps say the same of each place as all records") {
  std::vector<TuneRecord> all;
  const char* const points[] = {"14x2", "4x2", "8x2", "1x1", "2x2"};
  const Place places[] = {{}, kResnet, {"resnet", "0123456789abcdef"}, {"resnet", "fedcba9876543210"}, kMobilenet};
  std::uint32_t random = 1;
  for (std::int64_t time = 1; time <= 12; ++time) {
    const auto drawn = [&](std::uint32_t below) {
      random = random * 1664525U + 1013904223U;
      return (random >> 16) % below;
    };
    const double seconds = 1e-6 * (1 + 0.01 * drawn(300));
    const char* const point = points[drawn(5)];
    all.push_back(confirmed(seconds, time, point, places[drawn(4)]));
    for (const Place& place : places) {
      const auto expected = tune::best_record(all, all[0].key, place);
      CHECK(tune::best_record(tune::best_records(all), all[0].key, place) == expected);
      CHECK(tune::best_record(tune::prune_records(all, 1), all[0].key, place) == expected);
    }
  }
}

TEST_CASE("the best records are one for each task that was measured") {
  TuneRecord slow = sample_record(2e-6, 1), fast = sample_record(1e-6, 2), other = sample_record(1e-6, 3);
  other.key.device.threads = 1;
  TuneRecord unmeasured = failed(20, Outcome::too_slow, 4);
  unmeasured.key.device.threads = 2;
  CHECK(tune::best_records({slow, fast, unmeasured, other}) == std::vector{other, fast});
  CHECK(tune::best_records({}).empty());
}

TEST_CASE("merging keeps each record once, in the order of their times") {
  const TuneRecord a = sample_record(1e-6, 1), b = sample_record(2e-6, 2), c = sample_record(3e-6, 2),
                   d = sample_record(1e-6, 4);
  CHECK(tune::merge_records({{d, b}, {a, c, b}, {}, {a}}) == std::vector{a, b, c, d});
  CHECK(tune::merge_records({}).empty());
}

TEST_CASE("pruning keeps the best records of each task, and all failures") {
  std::vector<TuneRecord> records;
  for (int i = 0; i < 5; ++i)
    records.push_back(with_code(sample_record(1e-6 * (5 - i), i), static_cast<std::uint8_t>(10 + i)));
  records.push_back(failed(14, Outcome::wrong, 9));
  records.push_back(failed(20, Outcome::too_slow, 9));
  records.push_back(failed(21, Outcome::refused, 9));
  TuneRecord other = sample_record(9e-6, 3);
  other.key.device.threads = 1;
  records.push_back(other);
  CHECK(tune::prune_records(records, 2) == std::vector{records[2], records[3], records[5], records[7], other});
  CHECK(tune::prune_records(tune::prune_records(records, 2), 2) == tune::prune_records(records, 2));
  CHECK(tune::prune_records({}, 2).empty());
}

TEST_CASE("algorithms compete with schedules, and schedules stay for those that may not use them") {
  const auto confirmed = [](double seconds, std::uint8_t code, const std::string& algorithm, std::int64_t unix_ms) {
    TuneRecord record = with_code(sample_record(seconds, unix_ms), code);
    record.confirmed = true;
    record.algorithm = algorithm;
    record.values = {"4x2"};  // the same in two spaces
    record.environment["network"] = "net";
    return record;
  };
  const TuneRecord schedule = confirmed(2e-6, 10, "", 1), faster = confirmed(1.5e-6, 11, "winograd2", 2),
                   slower = confirmed(2.4e-6, 12, "winograd4", 3), later = confirmed(2.1e-6, 11, "winograd2", 4);
  const Place place{"net"};
  CHECK(tune::best_record({schedule, faster, slower}, schedule.key, place) == faster);
  // A newer comparison of this algorithm says less.
  CHECK(tune::best_record({schedule, faster, slower, later}, schedule.key, place) == schedule);
  for (const std::vector<TuneRecord>& kept :
       {tune::best_records({schedule, faster, slower}), tune::prune_records({schedule, faster, slower}, 1)}) {
    CHECK(std::ranges::find(kept, schedule) != kept.end());
    CHECK(std::ranges::find(kept, faster) != kept.end());
    CHECK(std::ranges::find(kept, slower) == kept.end());
  }
}
