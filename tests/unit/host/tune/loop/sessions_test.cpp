// Tests which sessions tuning opens with a device.
#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <vector>

using namespace ferry;
using test::Planting;
using test::product;
using test::quick;
using test::RecordsFile;
using tune::Outcome;
using tune::TuneOptions;

TEST_CASE("a device has one session at a time, and another after a crash even if it is gone for a moment") {
  std::vector<std::weak_ptr<detail::DeviceState>> sessions;
  int attempts = 0;
  const auto open = [&](const ConnectOptions& options) {
    for (const auto& session : sessions) CHECK(session.expired());
    if (++attempts == 2) throw Error(ErrorCode::unavailable, "the board starts again");
    Device device = local_device(options);
    sessions.push_back(device.state());
    return device;
  };
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.builders = 1;
  options.processes = 3;
  options.make_builder = [](const tune::Compile& compile) { return std::make_unique<Planting>(compile); };
  const tune::Tuned tuned = tune::tune(std::vector{bench::NamedDevice{"board", open}}, {product(), {}, {}}, options);
  CHECK(tuned.progress.count() == 12);
  CHECK(tuned.progress.trials.at(Outcome::hung) == 1);
  std::map<Outcome, std::uint64_t> trials = tuned.progress.trials;
  CHECK(trials[Outcome::measured] + trials[Outcome::too_slow] >= 5);
  CHECK(attempts >= 4);  // the first, one in vain, and those after the crash and the hang
}

TEST_CASE("a device whose sessions take long to open leaves fewer for the comparison, so that the budget is kept") {
  const auto open = [](const ConnectOptions& options) {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    return local_device(options);
  };
  const RecordsFile file;
  TuneOptions options = quick(file);
  options.has_trials_limit = false;
  options.budget_seconds = 10;
  options.processes = 60;
  const auto start = std::chrono::steady_clock::now();
  const tune::Tuned tuned = tune::tune(std::vector{bench::NamedDevice{"far away", open}}, {product(), {}, {}}, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Sixty processes would take 42 s. Others may compute on this machine meanwhile.
  CHECK(seconds < 20);
  if (tuned.comparison) CHECK(tuned.comparison->processes.size() >= bench::kLeastProcesses);
}
