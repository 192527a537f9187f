// Tests tuning of small networks on this machine.
#include "host/tune/network/tune_network.h"

#include "base/throw_status.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/network/confirm_in_network.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/task/program_hash.h"

#include "tests/support/network_builder.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/tune/loop/tuned_product.h"
#include "tests/unit/host/tune/network/small_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

using namespace ferry;
using test::own_compiler;
using test::RecordsFile;
using test::this_machine;
using tune::KernelState;
using tune::TuneOptions;
using tune::TuneRecord;

namespace {

// Two products, of which the first reads an image of N rows, and a softmax.
KernelSource network() {
  test::NetworkBuilder network;
  const graph::TensorId x = network.input("x", {graph::Size::symbol("N"), 256});
  const graph::TensorId hidden =
      network.node(graph::Operator::matmul, {x, network.weights("v", {256, 192})}, graph::MatmulAttributes{}, "first");
  const graph::TensorId y = network.node(graph::Operator::matmul, {hidden, network.weights("w", {192, 40})},
                                         graph::MatmulAttributes{}, "second");
  network.output(network.node(graph::Operator::softmax, {y}, graph::DimensionAttributes{1}, "third"), "y");
  return test::small_network(network.graph);
}

TuneOptions quick_network(const RecordsFile& file) { return test::quick_network(file, "N=37", 8); }

std::set<Hash> programs_of(const KernelSource& source) {
  const Target target = own_compiler()->target_of(local_device().facts());
  std::set<Hash> programs;
  for (const NetworkProgram& kernel : source.as_network()->network->kernels({.target = target, .sizes = {{"N", 37}}}))
    programs.insert(tune::program_hash(kernel.program, {}));
  return programs;
}

}  // namespace

TEST_CASE("the kernels of a network are tuned as programs by themselves, and what is found is for the whole network") {
  const RecordsFile file;
  const KernelSource source = network();
  const tune::TunedNetwork tuned = tune::tune_network(this_machine(), {source, {}, {}}, quick_network(file));
  CHECK(tuned.function == "net");
  REQUIRE(tuned.kernels.size() == 3);
  CHECK(tuned.progress.count() == 8);
  CHECK(tuned.progress.default_seconds > 0);
  // The first turn goes to the kernel of which the estimate leaves the most.
  const auto first = std::ranges::max_element(tuned.kernels, {}, [](const tune::NetworkKernelResult& kernel) {
    return kernel.seconds - std::min(kernel.estimate, 0.9 * kernel.seconds);
  });
  CHECK(first->state == KernelState::tuned);
  CHECK(first->trials > 0);

  const std::set<Hash> programs = programs_of(source);
  CHECK(programs.size() == 3);
  bool is_used = false;
  for (const TuneRecord& record : file.records()) {
    CHECK(programs.contains(record.key.program));
    if (!record.confirmed) continue;
    CHECK(record.environment.at("network") == "net");
    const bool is_faster = *tune::share_of_default(record) < 1 - tune::kLeastGain;
    is_used |= is_faster;
    // Without a faster network nothing counts.
    if (is_faster) CHECK(tuned.is_faster);
  }
  CHECK(is_used == tuned.is_faster);
  if (tuned.comparison) CHECK(tuned.comparison->difference().empty());
  if (tuned.is_faster) CHECK(tuned.comparison->times.low > 1);

  // Another run goes on, and without trials only compares.
  TuneOptions only_compares = quick_network(file);
  only_compares.trials = 0;
  const tune::TunedNetwork again = tune::tune_network(this_machine(), {source, {}, {}}, only_compares);
  CHECK(again.progress.count() == 0);
  CHECK(std::ranges::all_of(again.kernels, [](const auto& kernel) { return kernel.trials == 0; }));
}

TEST_CASE("a schedule that is slower in the network is not used there, whatever it took by itself") {
  const KernelSource source = network();
  const tune::TunedKernel kernel{source, {}, {}};
  const RecordsFile file;
  const TuneOptions options = quick_network(file);
  const bench::NamedDevice device = this_machine()[0];
  const tune::NetworkProfile profile = tune::profile_network(device, kernel, options, {});
  REQUIRE(profile.kernels.size() == 3);
  const lang::Program& program = profile.kernels[0].program;
  SpacePoint point = own_compiler()->space_at({.programs = std::span(&program, 1)}, profile.target);
  for (PointKnob& knob : point.knobs)
    if (const auto smallest = std::ranges::find(knob.candidates, "1x1"); smallest != knob.candidates.end())
      knob.chosen = static_cast<std::size_t>(smallest - knob.candidates.begin());
  TuneRecord record;
  record.key.program = tune::program_hash(program, {});
  record.values = values_in_order(point);
  record.time = tune::MeasuredTime{1e-6, 1e-6, 1e-6};  // as if it had been fast
  record.default_time = tune::MeasuredTime{2e-6, 2e-6, 2e-6};
  const std::vector<tune::ConfirmedKernel> confirmed =
      tune::confirm_in_network({device, kernel, options, profile}, {{0, {record}}}, {}, {});
  REQUIRE(confirmed.size() == 1);
  CHECK(confirmed[0].kernel == 0);
  CHECK_FALSE(confirmed[0].is_faster);
  CHECK(confirmed[0].record.confirmed);
  CHECK(*tune::share_of_default(confirmed[0].record) > 1.1);
}

TEST_CASE("a schedule that was slower in a network stays for the kernel by itself and for other networks") {
  const KernelSource source = network();
  const Target target = own_compiler()->target_of(local_device().facts());
  lang::Program program = source.as_network()->network->kernels({.target = target, .sizes = {{"N", 37}}})[0].program;
  program.name = "alone";
  const RecordsFile tuning, file;
  TuneOptions options = quick_network(tuning);
  options.call.sizes.clear();
  options.trials = 48;  // some of them have code of their own and are measured to the end
  options.processes = 0;
  options.threads = 0;
  (void)tune::tune(this_machine(), {{own_compiler(), "alone", {}, TextKernel{.programs = {program}}}, {}, {}}, options);
  const std::vector<TuneRecord> trials = tuning.records();
  const auto other = std::ranges::find_if(trials, [](const TuneRecord& trial) {
    return tune::share_of_default(trial).has_value() && trial.code != trial.default_code;
  });
  REQUIRE(other != trials.end());
  const auto confirm = [&](double share, const std::string& network, const std::string& graph = {}) {
    TuneRecord record = *other;
    record.confirmed = true;
    const double seconds = share * record.default_time->seconds;
    record.time = tune::MeasuredTime{seconds, seconds, seconds};
    record.unix_ms += network.empty() ? 0 : 1;
    if (!network.empty()) record.environment["network"] = network;
    if (!graph.empty()) record.environment["network_graph"] = graph;
    throw_failure(tune::append_record(file.name, record));
  };
  const auto find = [&](const std::string& name) {
    const tune::RecordedSchedules recorded(*own_compiler(), file.name);
    return recorded.find(program, {}, target, nullptr, NetworkIdentity{name, {}}).has_value();
  };
  // Returns what is said when the whole network is compiled.
  const auto told = [&] {
    KernelSource tuned = network();
    tuned.tuned = std::make_shared<tune::RecordedSchedules>(*own_compiler(), file.name);
    CallOptions call;
    call.sizes = {"N=37"};
    std::string all;
    Observer observer;
    observer.message = [&](const std::string& line) { all += line + "\n"; };
    (void)compile_kernel(tuned, {}, target, call, observer);
    return all;
  };
  confirm(0.5, "");
  CHECK(file.records().size() == 1);
  CHECK(find("net"));
  CHECK_MESSAGE(told().find("2.00 times as fast as the default") != std::string::npos, told());
  // Another network of this name was slower.
  confirm(1.2, "net", "0123456789abcdef");
  CHECK(find("net"));
  CHECK_MESSAGE(told().find("2.00 times as fast as the default") != std::string::npos, told());
  // Another version of ferry has noted the name alone.
  confirm(1.2, "net");
  CHECK_FALSE(find("net"));
  CHECK_MESSAGE(told().find("times as fast") == std::string::npos, told());
  CHECK(find("another"));
  CHECK(find(""));
}

TEST_CASE("a search of a network that is interrupted keeps its trials and confirms nothing") {
  const RecordsFile file;
  TuneOptions options = quick_network(file);
  options.has_trials_limit = false;
  int trials = 0;
  options.on_trial = [&](const TuneRecord&, const tune::Progress&) { ++trials; };
  Observer observer;
  observer.is_interrupted = [&] { return trials >= 3; };
  const tune::TunedNetwork tuned = tune::tune_network(this_machine(), {network(), {}, {}}, options, observer);
  CHECK(tuned.is_interrupted);
  CHECK_FALSE(tuned.comparison.has_value());
  const std::vector<TuneRecord> records = file.records();
  CHECK(records.size() == static_cast<std::size_t>(trials));
  CHECK(std::ranges::none_of(records, &TuneRecord::confirmed));
}

TEST_CASE("all turns of all kernels share one session with the device") {
  int opened = 0;
  std::weak_ptr<detail::DeviceState> last;
  const auto open = [&](const ConnectOptions& options) {
    CHECK(last.expired());
    ++opened;
    Device device = local_device(options);
    last = device.state();
    return device;
  };
  const RecordsFile file;
  TuneOptions options = quick_network(file);
  options.has_trials_limit = false;
  // The first product may have several turns before another kernel promises more.
  options.budget_seconds = 60;
  options.processes = 0;
  std::set<std::string> kernels;
  std::string before;
  int turns = 0;
  options.on_trial = [&](const TuneRecord& trial, const tune::Progress&) {
    if (trial.function != before) ++turns;
    before = trial.function;
    kernels.insert(trial.function);
  };
  Observer observer;
  observer.is_interrupted = [&] { return kernels.size() >= 2; };
  (void)tune::tune_network(std::vector{bench::NamedDevice{"board", open}}, {network(), {}, {}}, options, observer);
  CHECK(kernels.size() >= 2);
  CHECK(turns >= static_cast<int>(kernels.size()));
  // One session times the network, and if a kernel's first call takes long, one more waits longer for it.
  CHECK(opened <= 1 + 1 + 1);
}

TEST_CASE(
    "a network is known by its operators: other weights and names are the same one, other shapes and attributes not") {
  const auto identity = [](std::int64_t columns, bool transposed, const std::string& node = "product",
                           float scale = 1) {
    test::NetworkBuilder network;
    const graph::TensorId x = network.input(node + " x", {graph::Size::symbol("N"), 8});
    const std::vector<std::int64_t> shape =
        transposed ? std::vector{columns, std::int64_t{8}} : std::vector{std::int64_t{8}, columns};
    const graph::MatmulAttributes attributes{.transposed_a = false, .transposed_b = transposed};
    const graph::TensorId y =
        network.node(graph::Operator::matmul, {x, network.weights(node + " w", shape, scale)}, attributes, node);
    network.output(network.node(graph::Operator::relu, {y}, {}, node + " last"), node + " y");
    return make_network(network.graph)->network_identity();
  };
  const NetworkIdentity one = identity(8, false);
  CHECK(one.name == "net");
  CHECK(identity(8, false, "another", 3).graph == one.graph);
  CHECK(identity(7, false).graph != one.graph);
  CHECK(identity(8, true).graph != one.graph);
  const tune::Place place = tune::place_in(one);
  CHECK(place.network == "net");
  CHECK(place.graph.size() == 16);
  CHECK(tune::place_in({}) == tune::Place());
}

TEST_CASE("what only a kernel's text has is refused for a network") {
  const RecordsFile file;
  TuneOptions open = quick_network(file), foreign = quick_network(file), without_sizes = quick_network(file);
  open.open_sizes = true;
  foreign.searcher = "true";
  without_sizes.call.sizes.clear();
  for (const TuneOptions& options : {open, foreign, without_sizes})
    CHECK_THROWS_AS(tune::tune_network(this_machine(), {network(), {}, {}}, options), Error);
}
