// Tests whole runs of tuning on this machine, with schedules that are wrong, crash or hang among them.
#include "host/tune/tune.h"

#include "base/throw_status.h"
#include "ferry/client.h"
#include "host/kernel/tuned_functions.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/replay.h"
#include "host/tune/runner/device_runner.h"
#include "host/tune/verify_records.h"

#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

using namespace ferry;
using test::compiler;
using test::Planting;
using test::product;
using test::quick;
using test::RecordsFile;
using test::this_machine;
using tune::Outcome;
using tune::TuneOptions;
using tune::TuneRecord;

namespace {

// Returns what is known for a call of the kernel's only function.
std::vector<TunedFunction> tuned_for(const KernelSource& kernel, const CallOptions& call,
                                     const Observer& observer = {}) {
  const lang::Program& program = choose_program(kernel, "");
  const Target target = compiler().target_of(local_device().facts());
  return tuned_functions(kernel, std::span(&program, 1), sizes_of_call(kernel, program, call), target, observer);
}

}  // namespace

TEST_CASE("what is found is recorded with its time beside the default's, and a second run goes on from there") {
  const RecordsFile file;
  const tune::Tuned first = tune::tune(this_machine(), {product(), {}, {}}, quick(file));
  CHECK(first.progress.count() == 12);
  CHECK(first.earlier == 0);
  const std::vector<TuneRecord> records = file.records();
  REQUIRE(records.size() == 12);
  for (const TuneRecord& record : records) {
    CHECK(record.function == "mm");
    CHECK(record.sizes == std::map<std::string, std::int64_t>{{"K", 40}, {"M", 37}, {"N", 64}});
    CHECK(record.fixed == std::vector<std::string>{"K", "M", "N"});
    CHECK(record.key == records[0].key);
    if (record.outcome == Outcome::measured) CHECK(record.default_time.has_value());
  }
  CHECK(first.best.outcome == Outcome::measured);
  TuneOptions more = quick(file);
  more.trials = 5;
  const tune::Tuned second = tune::tune(this_machine(), {product(), {}, {}}, more);
  CHECK(second.earlier == 12);
  std::set<std::vector<std::string>> points;
  for (const TuneRecord& record : file.records()) CHECK(points.insert(record.values).second);
}

TEST_CASE("the default schedule is built once, although it is tried like any other point") {
  struct Noting final : tune::Builder {
    tune::DirectBuilder inner;
    std::mutex& mutex;
    std::vector<tune::PointInOrder>& built;
    Noting(tune::Compile compile, std::mutex& m, std::vector<tune::PointInOrder>& points)
        : inner(std::move(compile)), mutex(m), built(points) {}
    tune::BuildResult build(const tune::PointInOrder& point) override {
      const std::lock_guard lock(mutex);
      built.push_back(point);
      return inner.build(point);
    }
    void pause() override {}
    void resume() override {}
  };
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.trials = 5;
  std::mutex mutex;
  std::vector<tune::PointInOrder> built;
  options.make_builder = [&](const tune::Compile& compile) { return std::make_unique<Noting>(compile, mutex, built); };
  (void)tune::tune(this_machine(), {product(), {}, {}}, options);
  CHECK(std::ranges::count(built, tune::PointInOrder()) == 1);
  const std::vector<TuneRecord> records = file.records();
  const auto tried = std::ranges::find_if(records, [](const TuneRecord& one) { return one.code == one.default_code; });
  REQUIRE(tried != records.end());
  CHECK(std::ranges::count(built, tried->values) == 0);
}

TEST_CASE("schedules that are wrong, crash, hang or cannot be compiled are recorded as such and never chosen") {
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.builders = 1;
  options.trials = 14;
  options.make_builder = [](const tune::Compile& compile) { return std::make_unique<Planting>(compile); };
  const tune::Tuned tuned = tune::tune(this_machine(), {product(), {}, {}}, options);
  std::map<Outcome, int> outcomes;
  for (const TuneRecord& record : file.records()) {
    ++outcomes[record.outcome];
    if (record.outcome != Outcome::measured) CHECK_MESSAGE(!record.reason.empty(), record.point);
    if (record.outcome == Outcome::wrong)
      CHECK_MESSAGE(record.reason.find("differs from what the default schedule computes") != std::string::npos,
                    record.reason);
  }
  CHECK(outcomes[Outcome::wrong] == 1);
  CHECK(outcomes[Outcome::crashed] == 2);
  CHECK(outcomes[Outcome::hung] == 1);
  CHECK(outcomes[Outcome::measured] >= 5);
  CHECK(tuned.best.outcome == Outcome::measured);
}

TEST_CASE("the best schedule is compared with the default at the end, and kernels take it from the records") {
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.processes = 3;
  const tune::Tuned tuned = tune::tune(this_machine(), {product(), {}, {}}, options);
  // Nothing is compared where the default was the best.
  if (!tuned.comparison) {
    CHECK_FALSE(tuned.is_faster);
    return;
  }
  CHECK(tuned.comparison->processes.size() == 3);
  CHECK(tuned.best.confirmed);

  // Whatever was measured: a record that says that a point is much faster is used for this call and no other.
  TuneRecord record = tuned.best;
  record.time = tune::MeasuredTime{record.default_time->seconds / 2, record.default_time->seconds / 2.1,
                                   record.default_time->seconds / 1.9};
  record.unix_ms += 1;
  KernelSource kernel = product();
  const RecordsFile used;
  throw_failure(tune::append_record(used.name, record));
  kernel.tuned = std::make_shared<tune::RecordedSchedules>(compiler(), used.name, 1);
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](const std::string& line) { told.push_back(line); };
  const std::vector<TunedFunction> same = tuned_for(kernel, options.call, observer);
  REQUIRE(same.size() == 1);
  CHECK(same[0].schedule.values == record.values);
  CHECK(same[0].fixed.has_value());
  CHECK(same[0].sizes == SizesByName{{"K", 40}, {"M", 37}, {"N", 64}});
  REQUIRE(told.size() == 1);
  CHECK(told[0] == "mm: the schedule is from records.jsonl: 2.00 times as fast as the default");
  CallOptions other;
  other.sizes = {"M=38,N=64,K=40"};
  CHECK(tuned_for(kernel, other, observer).empty());
  CHECK(told.size() == 1);

  // Other names are the same program.
  KernelSource renamed =
      read_kernel(&compiler(), {.file = {},
                                .expression = "def p(float(R,T) X, float(T,S) Y) -> (Z) { Z(i,j) +=! X(i,k) * Y(k,j) }",
                                .function = {},
                                .schedule = {}});
  renamed.tuned = kernel.tuned;
  CallOptions of_renamed;
  of_renamed.sizes = {"R=37,S=64,T=40"};
  CHECK(tuned_for(renamed, of_renamed).size() == 1);
}

TEST_CASE("calls run in turns in as many sets of tensors as no cache of a core holds") {
  CHECK(tune::sets_in_turns(1 << 20, 1 << 20) == 1);
  CHECK(tune::sets_in_turns((1 << 20) - 1, 1 << 20) == 3);
  CHECK(tune::sets_in_turns(300, 1000) == 5);
  CHECK(tune::sets_in_turns(143, 1000) == 8);
  CHECK(tune::sets_in_turns(142, 1000) == 1);  // so small that they stay there
  CHECK(tune::sets_in_turns(0, 1000) == 1);
  CHECK(tune::sets_in_turns(300, 0) == 1);
}

TEST_CASE("schedules are measured and recorded as usual where calls run in turns in several sets of tensors") {
  const RecordsFile file;
  TuneOptions options = quick(file);
  const std::uint64_t l2 = compiler().target_of(local_device().facts()).l2_bytes;
  if (l2 == 0) return;
  // A reads a quarter of the cache.
  options.call.sizes = {"M=64,N=16,K=" + std::to_string(l2 / 4 / 4 / 64)};
  options.trials = 4;
  const tune::Tuned tuned = tune::tune(this_machine(), {product(), {}, {}}, options);
  CHECK(tuned.progress.count() == 4);
  CHECK(tuned.best.outcome == Outcome::measured);
  for (const TuneRecord& record : file.records()) CHECK_MESSAGE(record.outcome != Outcome::wrong, record.reason);
}

TEST_CASE("schedules are the same up to names") {
  const std::string schedule = "C: split m 4\nC: reorder m.outer n m.inner\nC: vectorize n 8\n";
  const auto same = [&](const std::string& other) { return tune::are_same_directives(schedule, other); };
  CHECK(same(schedule));
  CHECK(same("Y: split  i 4\nY: reorder i.outer j i.inner\nY: vectorize j 8\n"));
  CHECK_FALSE(same("Y: split i 8\nY: reorder i.outer j i.inner\nY: vectorize j 8\n"));
  CHECK_FALSE(same("Y: split i 4\nY: reorder i.outer j i.inner\nY: unroll j 8\n"));
  CHECK_FALSE(same("Y: split i 4\nY: reorder i.outer j j.inner\nY: vectorize j 8\n"));
  CHECK_FALSE(same("Y: split i 4\nY: reorder i.outer j i.inner\nY: vectorize i 8\n"));
  CHECK_FALSE(same("Y: split i 4\nY: reorder i.outer j i.inner\n"));
  CHECK_FALSE(same(schedule + "C: parallel m.outer\n"));
  CHECK(tune::are_same_directives("", ""));
}

TEST_CASE("a record of another version counts as measured if the code is the same, and else needs a larger gain") {
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.trials = 2;
  (void)tune::tune(this_machine(), {product(), {}, {}}, options);
  std::vector<TuneRecord> records = file.records();
  REQUIRE(records.size() == 2);
  TuneRecord record = records[1].outcome == Outcome::measured ? records[1] : records[0];
  REQUIRE(record.default_time.has_value());
  record.confirmed = true;
  record.version = "another";
  const auto found = [&](double share, double high = 1) {
    const RecordsFile used;
    const double seconds = record.default_time->seconds * share;
    record.time = tune::MeasuredTime{seconds, seconds, seconds * high};
    throw_failure(tune::append_record(used.name, record));
    KernelSource kernel = product();
    kernel.tuned = std::make_shared<tune::RecordedSchedules>(compiler(), used.name, 1);
    const std::vector<TunedFunction> tuned = tuned_for(kernel, options.call);
    return tuned.empty() ? std::string() : tuned[0].schedule.note;
  };
  const std::string builds = "another build";
  CHECK_FALSE(found(0.97).empty());  // the same code
  CHECK(found(0.9).find(builds) == std::string::npos);
  CHECK(found(0.9, 1.2).empty());  // it may be slower
  record.code[0] ^= 1;
  CHECK(found(0.97).empty());
  CHECK(found(0.9).find(builds) != std::string::npos);
  record.code[0] ^= 1;
  record.default_code[0] ^= 1;
  CHECK(found(0.9).find(builds) != std::string::npos);
  record.directives = "C: parallel m\n";  // now the values lead to another schedule
  CHECK(found(0.5).empty());
}

TEST_CASE("a record of a version that had fewer knobs still leads to its schedule, by their names") {
  const RecordsFile file;
  TuneOptions options = quick(file);
  (void)tune::tune(this_machine(), {product(), {}, {}}, options);
  const std::vector<TuneRecord> records = file.records();
  // The second knob has its default.
  const auto measured = std::ranges::find_if(records, [&](const TuneRecord& one) {
    return one.default_time && one.values[1] == records[0].values[1] && one.code != records[0].code;
  });
  REQUIRE(measured != records.end());
  TuneRecord record = *measured;
  record.outcome = Outcome::measured;
  const std::vector<std::string> values = record.values;
  // As if there had been no such knob.
  const std::size_t start = record.point.find(", ") + 2, end = record.point.find(", ", start) + 2;
  record.point.erase(start, end - start);
  record.values.erase(record.values.begin() + 1);
  record.confirmed = true;
  record.version = "another";
  const double seconds = record.default_time->seconds / 2;
  record.time = tune::MeasuredTime{seconds, seconds, seconds};
  const auto found = [&] {
    const RecordsFile used;
    throw_failure(tune::append_record(used.name, record));
    KernelSource kernel = product();
    kernel.tuned = std::make_shared<tune::RecordedSchedules>(compiler(), used.name, 1);
    return tuned_for(kernel, options.call);
  };
  const std::vector<TunedFunction> tuned = found();
  REQUIRE(tuned.size() == 1);
  CHECK(tuned[0].schedule.values == values);
  record.directives = "C: parallel m\n";
  CHECK(found().empty());
}

TEST_CASE("verifying settles the records of other versions, by their code or by measuring again") {
  const RecordsFile file, own;
  TuneOptions options = quick(file);
  options.trials = 3;
  (void)tune::tune(this_machine(), {product(), {}, {}}, options);
  std::vector<TuneRecord> records = file.records();
  std::erase_if(records, [](const TuneRecord& one) { return !tune::share_of_default(one); });
  REQUIRE(!records.empty());
  TuneRecord record = records.back();
  record.confirmed = true;
  const double seconds = record.default_time->seconds / 8;
  record.time = tune::MeasuredTime{seconds, seconds, seconds};
  const auto verify = [&](TuneRecord one) {
    const RecordsFile used;
    throw_failure(tune::append_record(used.name, one));
    std::vector<tune::VerifiedTask> tasks = tune::verify_records(
        this_machine()[0], {product(), {}, {}}, {.records = used.name, .processes = 3, .threads = 1, .on_task = {}});
    REQUIRE(tasks.size() == 1);
    CHECK(used.records().size() == (tasks[0].after ? 2 : 1));
    return tasks[0];
  };
  CHECK(verify(record).verdict == tune::Verdict::current);
  const std::string version = record.version;
  record.version = "another";
  const tune::VerifiedTask same = verify(record);
  CHECK(same.verdict == tune::Verdict::same_code);
  CHECK(same.after->version == version);
  CHECK(same.after->time == record.time);
  record.code[0] ^= 1;
  const tune::VerifiedTask measured = verify(record);
  REQUIRE(measured.verdict == tune::Verdict::measured);
  CHECK(measured.after->confirmed);
  CHECK(measured.after->version == version);
  CHECK(measured.after->values == record.values);
  CHECK(*tune::share_of_default(*measured.after) > *tune::share_of_default(record));
  record.algorithm = "another";
  CHECK(verify(record).verdict == tune::Verdict::in_network);
  record.algorithm.clear();
  record.directives = "C: parallel m\n";
  CHECK(verify(record).verdict == tune::Verdict::gone);

  // Records of other kernels, and those that are not confirmed, are left alone.
  record.confirmed = false;
  throw_failure(tune::append_record(own.name, record));
  record.confirmed = true;
  record.key.program[0] ^= 1;
  throw_failure(tune::append_record(own.name, record));
  CHECK(tune::verify_records(this_machine()[0], {product(), {}, {}}, {.records = own.name, .threads = 1}).empty());
}

TEST_CASE("another program decides what is tried, and its end ends the search with all kept") {
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.has_trials_limit = false;
  options.searcher = "read a; echo '{\"points\":[{\"C.tile\":\"1x1\"},{\"C.nothing\":1}]}'; read b; read c; read d";
  const tune::Tuned tuned = tune::tune(this_machine(), {product(), {}, {}}, options);
  CHECK(tuned.progress.count() == 2);
  CHECK(file.records().size() == 2);
  CHECK(tuned.searcher_failure.empty());
  options.searcher = "read a; echo nonsense";
  const tune::Tuned failed = tune::tune(this_machine(), {product(), {}, {}}, options);
  CHECK(failed.searcher_failure.starts_with("the searcher: line 1: expected"));
}

TEST_CASE("a kernel without knobs, one with a schedule and one of another language are refused") {
  const RecordsFile file;
  KernelSource scheduled = product();
  scheduled.as_text()->unscheduled = true;
  CHECK_THROWS_WITH_AS(tune::tune(this_machine(), {scheduled, {}, {}}, quick(file)),
                       "expected no schedule, which is searched for, or one of your own with knobs", OptionError);
  TuneOptions without_sizes = quick(file);
  without_sizes.call.sizes = {"M=4"};
  CHECK_THROWS_AS(tune::tune(this_machine(), {product(), {}, {}}, without_sizes), Error);
}

TEST_CASE("the knobs of a user's own schedule are a space, and its records are for it alone") {
  const RecordsFile file;
  const std::string schedule =
      "C: split m $rows in {1,2,4}\nC: split n $columns in {8,16}\nC: reorder m.outer n.outer k m.inner n.inner\n"
      "C: vectorize n.inner\nC: unroll m.inner\n";
  KernelOptions own{.file = {}, .expression = test::kProduct, .function = {}, .schedule = {}};
  own.schedule.text = schedule;
  TuneOptions options = quick(file);
  options.trials = 100;
  const tune::Tuned tuned = tune::tune(this_machine(), {read_kernel(test::own_compiler(), own), {}, {}}, options);
  CHECK(tuned.progress.points == 6);
  CHECK(tuned.progress.count() == 6);
  std::set<std::vector<std::string>> values;
  for (const TuneRecord& record : file.records()) {
    CHECK(record.key.schedule.has_value());
    CHECK(record.outcome != Outcome::refused);
    values.insert(record.values);
  }
  CHECK(values.contains({"16", "4"}));  // columns, rows

  std::vector<TuneRecord> records = file.records();
  std::erase_if(records, [](const TuneRecord& record) {
    return record.values != std::vector<std::string>{"16", "4"} || !record.default_time;
  });
  REQUIRE(!records.empty());
  TuneRecord& best = records.front();
  best.outcome = Outcome::measured;
  best.confirmed = true;
  best.reason.clear();
  const double seconds = best.default_time->seconds / 4;
  best.time = tune::MeasuredTime{seconds, seconds, seconds};
  const RecordsFile used;
  throw_failure(tune::append_record(used.name, best));
  const auto schedules = std::make_shared<tune::RecordedSchedules>(compiler(), used.name, 1);
  KernelSource kernel = read_kernel(test::own_compiler(), own), by_default = product();
  kernel.tuned = by_default.tuned = schedules;
  const std::vector<TunedFunction> same = tuned_for(kernel, options.call);
  REQUIRE(same.size() == 1);
  CHECK(same[0].schedule.values == std::vector<std::string>{"16", "4"});
  CHECK(tuned_for(by_default, options.call).empty());
  own.schedule.knobs = {"rows=1"};  // the user chose
  KernelSource chosen = read_kernel(test::own_compiler(), own);
  chosen.tuned = schedules;
  CHECK(tuned_for(chosen, options.call).empty());
}
