// Tests tuning on a device at the other end of a slow link.
#include "ferry/client.h"
#include "host/kernel/call_inputs.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/runner/device_runner.h"
#include "host/tune/search/search.h"
#include "host/tune/tuned_task.h"

#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/slow_link.h"
#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace ferry;
using test::compiler;
using test::ListeningServer;
using test::Planting;
using test::product;
using test::quick;
using test::RecordsFile;
using test::SlowLink;
using tune::Outcome;

namespace {

using std::chrono::milliseconds;

constexpr const char* kServer = FERRY_BINARY_DIR "/device-runtime/rpc_server";

// A server with one place, and a link to it.
struct FarDevice {
  explicit FarDevice(milliseconds round_trip) : link(server.port(), {.round_trip = round_trip}) {}

  std::vector<bench::NamedDevice> devices() {
    return {{"far away", [this](const ConnectOptions& options) {
               ++sessions;
               return connect("plaintext://" + link.address(), options);
             }}};
  }

  ListeningServer server{kServer};
  SlowLink link;
  int sessions = 0;
};

// A task with code for many of its points.
struct BuiltTask {
  explicit BuiltTask(std::size_t points) {
    tune::TuneOptions options;
    options.call.sizes = {"M=37,N=64,K=40"};
    const Target target = compiler().target_of(local_device().facts());
    task = tune::task_of({product(), {}, {}}, target, options);
    runner.default_module = task.compile({});
    runner.info = choose_function(CompiledModule(runner.default_module).manifest(), task.function, task.source.name);
    runner.plan = plan_call(runner.info, task.call, input_range(task.source));
    runner.threads = 1;
    tune::Search search([this](const tune::PointValues& values) { return task.space_at(values); }, 0);
    while (modules.size() < points)
      modules.push_back(
          std::make_shared<const tune::ModuleBytes>(task.compile(values_in_order(search.next().value()))));
  }

  tune::TunedTask task;
  tune::RunnerTask runner;
  std::vector<std::shared_ptr<const tune::ModuleBytes>> modules;
};

}  // namespace

TEST_CASE("the longer a link takes and the shorter trials are, the more of them are on their way") {
  CHECK(tune::trials_on_their_way(0, 0.01) == 2);
  CHECK(tune::trials_on_their_way(0.001, 0.01) == 3);
  CHECK(tune::trials_on_their_way(0.02, 0.02) == 5);
  CHECK(tune::trials_on_their_way(0.02, 0.0001) == 12);
  CHECK(tune::trials_on_their_way(10, 0) == 12);
}

TEST_CASE("trials over a slow link do not wait for each other's answers") {
  constexpr std::size_t kTrials = 24;
  constexpr milliseconds kRoundTrip{100};
  const BuiltTask built(kTrials);
  FarDevice far(kRoundTrip);
  tune::KeptSession kept(far.devices().front());
  tune::DeviceRunner runner(kept, built.runner, {});
  runner.begin();
  const auto start = std::chrono::steady_clock::now();
  std::set<std::uint64_t> ended;
  for (std::uint64_t next = 0; ended.size() < kTrials;) {
    while (next < kTrials && runner.has_room()) {
      runner.submit(next, built.modules[next]);
      ++next;
    }
    const auto trial = runner.wait(0, milliseconds(1));
    if (!trial) continue;
    CHECK(ended.insert(trial->number).second);
    CHECK_MESSAGE(trial->trial.outcome == Outcome::measured, trial->trial.reason);
    CHECK(trial->trial.default_time.has_value());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  // A trial takes three round trips, one after the other.
  const double one_by_one = 3 * kTrials * std::chrono::duration<double>(kRoundTrip).count();
  MESSAGE("the share of the time that trials one by one would take: " << took.count() / one_by_one);
  CHECK(took.count() < one_by_one / 2);
  CHECK(far.sessions == 1);
}

TEST_CASE("of the trials that are on their way, code that crashes or hangs loses itself alone") {
  FarDevice far(milliseconds(60));
  const RecordsFile file;
  tune::TuneOptions options = quick(file);
  options.builders = 1;
  options.trials = 16;
  options.make_builder = [](const tune::Compile& compile) { return std::make_unique<Planting>(compile); };
  const tune::Tuned tuned = tune::tune(far.devices(), {product(), {}, {}}, options);
  std::map<Outcome, int> outcomes;
  for (const tune::TuneRecord& record : file.records()) ++outcomes[record.outcome];
  CHECK(outcomes[Outcome::wrong] == 1);
  CHECK(outcomes[Outcome::crashed] == 2);  // one of them in the compiler
  CHECK(outcomes[Outcome::hung] == 1);
  CHECK(outcomes[Outcome::measured] + outcomes[Outcome::too_slow] == 12);
  CHECK(tuned.best.outcome == Outcome::measured);
  CHECK(far.sessions == 3);  // the first, and those after the crash and the hang
}

TEST_CASE("a link that breaks costs no trial") {
  constexpr std::size_t kTrials = 12;
  const BuiltTask built(kTrials);
  FarDevice far(milliseconds(60));
  tune::KeptSession kept(far.devices().front());
  tune::DeviceRunner runner(kept, built.runner, {});
  runner.begin();
  for (std::uint64_t next = 0; next < kTrials; ++next) runner.submit(next, built.modules[next]);
  std::set<std::uint64_t> ended;
  bool is_cut = false;
  while (ended.size() < kTrials) {
    if (const auto trial = runner.wait(0, milliseconds(1))) {
      CHECK(ended.insert(trial->number).second);
      CHECK_MESSAGE(trial->trial.outcome == Outcome::measured, trial->trial.reason);
    }
    if (ended.size() == 2 && !std::exchange(is_cut, true)) far.link.cut();
  }
  CHECK(far.sessions == 2);
}
