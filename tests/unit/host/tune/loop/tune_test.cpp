// Tests whole runs of tuning on this machine, with schedules that are wrong, crash or hang among them.
#include "host/tune/tune.h"

#include "base/throw_status.h"
#include "ferry/client.h"
#include "host/kernel/tuned_call.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"

#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>

using namespace ferry;
using tune::Outcome;
using tune::PointInOrder;
using tune::TuneOptions;
using tune::TuneRecord;

namespace {

const char* const kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

const Compiler& compiler() { return *test::own_compiler(); }

KernelSource product() {
  return read_kernel(&compiler(), {.file = {}, .expression = kProduct, .function = {}, .schedule = {}});
}

std::vector<bench::NamedDevice> this_machine() {
  return {{"this machine", [](const ConnectOptions& options) { return local_device(options); }}};
}

struct RecordsFile : test::Folder {
  const std::string name = path("records.jsonl");
  std::vector<TuneRecord> records() const { return value_or_throw(tune::read_records(name)).records; }
};

TuneOptions quick(const RecordsFile& file) {
  TuneOptions options;
  options.call.sizes = {"M=37,N=64,K=40"};
  options.budget_seconds = 60;
  options.trials = 12;
  options.has_trials_limit = true;
  options.records = file.name;
  options.threads = 1;
  options.processes = 0;
  return options;
}

// Compiles other kernels with the product's signature at the points where `source` returns one.
tune::ModuleBytes compile_c(const std::string& body) {
  const std::string text = "void mm(const float* A, const float* B, float* C) {" + body + "}";
  const test::Folder folder;
  const ForeignSource source{
      folder.file("mm.c", text), {"mm(in f32[37,40] A, in f32[40,64] B, out f32[37,64] C)"}, {}, text};
  return compiler().compile(source, compiler().target_of(local_device().facts()), CodeForm::linked);
}

// Builds what others would, but for some points something that is fast and must not win.
class Planting final : public tune::Builder {
 public:
  Planting(tune::Compile compile) : inner_(std::move(compile)) {}
  tune::BuildResult build(const PointInOrder& point) override {
    const int number = built_++;
    if (number == 3) return compile_c("(void)A; (void)B; C[0] = 1;");
    if (number == 4) return compile_c("(void)A; (void)B; *(volatile int*)8 = 1; C[0] = 1;");
    if (number == 5) return compile_c("(void)A; (void)B; while (1) ((volatile float*)C)[0] = 1;");
    if (number == 6) return tune::Failure{Outcome::crashed, "the compiler crashed"};
    return inner_.build(point);
  }
  void pause() override {}
  void resume() override {}

 private:
  tune::DirectBuilder inner_;
  std::atomic<int> built_ = 0;
};

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
  const Target target = compiler().target_of(local_device().facts());
  KernelSource kernel = product();
  const RecordsFile used;
  throw_failure(tune::append_record(used.name, record));
  kernel.as_text()->tuned = std::make_shared<tune::RecordedSchedules>(compiler(), used.name, 1);
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](const std::string& line) { told.push_back(line); };
  const TunedCall same = tuned_for(kernel, "mm", target, options.call, observer);
  REQUIRE(same.source.as_text()->point);
  CHECK(same.source.as_text()->point->in_order == record.values);
  CHECK(same.call.sizes.empty());
  REQUIRE(told.size() == 1);
  CHECK(told[0] == "mm: the schedule is from " + used.name + ": 2.00 times as fast as the default");
  CallOptions other;
  other.sizes = {"M=38,N=64,K=40"};
  const TunedCall different = tuned_for(kernel, "mm", target, other, observer);
  CHECK_FALSE(different.source.as_text()->point);
  CHECK(different.call.sizes == other.sizes);
  CHECK(told.size() == 1);

  // Other names are the same program.
  KernelSource renamed =
      read_kernel(&compiler(), {.file = {},
                                .expression = "def p(float(R,T) X, float(T,S) Y) -> (Z) { Z(i,j) +=! X(i,k) * Y(k,j) }",
                                .function = {},
                                .schedule = {}});
  renamed.as_text()->tuned = kernel.as_text()->tuned;
  CallOptions of_renamed;
  of_renamed.sizes = {"R=37,S=64,T=40"};
  CHECK(tuned_for(renamed, "p", target, of_renamed).source.as_text()->point);
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
  KernelOptions own{.file = {}, .expression = kProduct, .function = {}, .schedule = {}};
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
  const Target target = compiler().target_of(local_device().facts());
  const RecordsFile used;
  throw_failure(tune::append_record(used.name, best));
  const auto schedules = std::make_shared<tune::RecordedSchedules>(compiler(), used.name, 1);
  KernelSource kernel = read_kernel(test::own_compiler(), own), by_default = product();
  kernel.as_text()->tuned = by_default.as_text()->tuned = schedules;
  const TunedCall same = tuned_for(kernel, "mm", target, options.call);
  CHECK(same.source.as_text()->schedule->knobs == std::map<std::string, std::string>{{"columns", "16"}, {"rows", "4"}});
  CHECK_FALSE(tuned_for(by_default, "mm", target, options.call).source.as_text()->point);
  own.schedule.knobs = {"rows=1"};  // the user chose
  KernelSource chosen = read_kernel(test::own_compiler(), own);
  chosen.as_text()->tuned = schedules;
  CHECK(tuned_for(chosen, "mm", target, options.call).source.as_text()->schedule->knobs.size() == 1);
}
