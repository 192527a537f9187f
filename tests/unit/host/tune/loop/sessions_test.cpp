// Tests which sessions tuning opens with a device.
#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <memory>
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
  CHECK(tuned.progress.trials.at(Outcome::measured) >= 5);
  CHECK(attempts >= 4);  // the first, one in vain, and those after the crash and the hang
}
