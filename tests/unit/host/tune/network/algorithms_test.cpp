// Tests tuning of algorithms in small networks on this machine.
#include "host/tune/network/tune_network.h"

#include "base/throw_status.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/network/confirm_in_network.h"
#include "host/tune/network/network_candidates.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"

#include "tests/support/network_builder.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/tune/loop/tuned_product.h"
#include "tests/unit/host/tune/network/small_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

using namespace ferry;
using test::own_compiler;
using test::RecordsFile;
using test::this_machine;
using tune::KernelState;
using tune::TuneOptions;
using tune::TuneRecord;

namespace {

// With a cache of this size, estimates say that Winograd's weights must be loaded for each of a few pixels, so that the
// direct algorithm is as fast. In truth they stay in the cache.
const char* const kSmallCache = "host -l2-bytes=65536";

// Two convolutions of 3 x 3 with one kernel, between others that keep its channels in blocks.
KernelSource network(std::int64_t channels, std::int64_t size, const NetworkSource& limits = {}) {
  test::NetworkBuilder network;
  const auto conv = [&](graph::TensorId x, std::int64_t from, const char* name, std::int64_t kernel) {
    const graph::WindowAttributes window{kernel, 1, 1, kernel / 2, kernel / 2};
    return network.node(graph::Operator::conv, {x, network.weights("w", {channels, from, kernel, kernel}, 0.1F)},
                        graph::ConvAttributes{{window, window}, 1}, name);
  };
  graph::TensorId x = conv(network.input("x", {graph::Size::symbol("N"), 3, size, size}), 3, "first", 1);
  x = conv(x, channels, "second", 3);
  x = conv(x, channels, "third", 3);
  network.output(network.node(graph::Operator::reduce_mean, {x}, graph::ReduceAttributes{{2, 3}, true}), "y");
  return test::small_network(network.graph, limits);
}

TuneOptions options_for(const RecordsFile& file) { return test::quick_network(file, "N=1", 10); }

Target target_here(const char* target) { return target_for(local_device(), target, network(64, 7)); }

// Returns the kernel of 3 x 3 with what is known of it.
NetworkProgram kernel_of(const KernelSource& source, const Target& target, const TunedSchedules* tuned = nullptr) {
  const std::vector<NetworkProgram> kernels =
      source.as_network()->network->kernels({.target = target, .sizes = {{"N", 1}}, .tuned = tuned});
  const auto found = std::ranges::find_if(kernels, [](const NetworkProgram& one) { return one.nodes.size() == 2; });
  REQUIRE(found != kernels.end());
  return *found;
}

const OtherAlgorithm& other_of(const NetworkProgram& kernel, const std::string& name) {
  const auto found = std::ranges::find(kernel.others, name, &OtherAlgorithm::name);
  REQUIRE_MESSAGE(found != kernel.others.end(), name);
  return *found;
}

std::vector<std::string> default_values(const lang::Program& program, const Target& target) {
  return values_in_order(own_compiler()->space_at({.programs = std::span(&program, 1)}, target));
}

// Returns a confirmed record of an algorithm with its default schedule.
TuneRecord record_of(const NetworkProgram& kernel, const std::string& algorithm, const Target& target, double share) {
  const lang::Program& other = other_of(kernel, algorithm).program;
  TuneRecord record;
  record.key = {tune::program_hash(kernel.program, {}), {}, tune::device_key(target, 1)};
  record.function = kernel.kernel;
  record.algorithm = algorithm;
  record.values = default_values(other, target);
  record.directives = own_compiler()->space_at({.programs = std::span(&other, 1)}, target).schedule;
  record.default_time = tune::MeasuredTime{1e-3, 1e-3, 1e-3};
  record.time = tune::MeasuredTime{share * 1e-3, share * 1e-3, share * 1e-3};
  record.confirmed = true;
  record.version = tune::version_of(*own_compiler(), target);
  record.default_code = Hash{1};
  record.code = Hash{2};
  record.unix_ms = 1;
  tune::set_place(record, {"net", {}});
  return record;
}

struct Told {
  CompiledModule module;
  std::string text;
};

Told compiled(KernelSource source, const Target& target, const std::string& records) {
  source.tuned = std::make_shared<tune::RecordedSchedules>(*own_compiler(), records, 1);
  CallOptions call;
  call.sizes = {"N=1"};
  std::string all;
  Observer observer;
  observer.message = [&](const std::string& line) { all += line + "\n"; };
  CompiledModule module = compile_kernel(source, {}, target, call, observer).module;
  return {std::move(module), all};
}

}  // namespace

TEST_CASE("a kernel's program with another algorithm is what the network has that computes it so") {
  const Target target = target_here(kSmallCache);
  const KernelSource source = network(64, 7);
  const NetworkProgram kernel = kernel_of(source, target);
  CHECK(kernel.algorithm == "direct");
  CHECK(kernel.others.size() == 2);
  for (const OtherAlgorithm& other : kernel.others) {
    const tune::ChosenSchedules chosen(
        {{tune::program_hash(kernel.program, {}), {other.name, default_values(other.program, target)}}});
    const NetworkProgram switched = kernel_of(source, target, &chosen);
    CHECK(switched.kernel == other.kernel);
    CHECK(switched.algorithm == other.name);
    CHECK(switched.nodes == kernel.nodes);
    CHECK(tune::program_hash(switched.program, {}) == tune::program_hash(other.program, {}));
    CHECK(tune::program_hash(switched.program, {}) != tune::program_hash(kernel.program, {}));
    // From there the way back has the inverse ratio.
    CHECK(other_of(switched, "direct").ratio == doctest::Approx(1 / other.ratio));
  }
}

TEST_CASE("algorithms beside the default are tasks unless estimates call them much slower than the best") {
  NetworkProgram kernel;
  kernel.kernel = "conv_0";
  for (const auto& [name, ratio] : {std::pair("a", 1.29), std::pair("b", 1.31), std::pair("c", 0.95)})
    kernel.others.push_back({name, std::string("conv_") + name, {}, ratio});
  NetworkProgram without;
  const std::vector<NetworkProgram> kernels{kernel, without};
  const std::vector<tune::NetworkTask> tasks = tune::tasks_of(kernels);
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0].algorithm.empty());
  CHECK(tasks[1].algorithm.empty());
  CHECK(tasks[1].kernel == 1);
  CHECK(tasks[2].algorithm == "c");
  CHECK(tasks[2].kernel == 0);
  CHECK(tasks[2].ratio == 0.95);
}

TEST_CASE("a network in which another algorithm is faster takes it, records it, and is compiled with it later") {
  const RecordsFile file;
  const KernelSource source = network(64, 7);
  const Target target = target_here(kSmallCache);
  TuneOptions options = options_for(file);
  options.processes = 10;  // it is about 1.3 times as fast; three processes cannot always tell
  const tune::TunedNetwork tuned = tune::tune_network(this_machine(), {source, {}, kSmallCache}, options);
  const auto kernel = std::ranges::find(tuned.kernels, 2U, [](const auto& one) { return one.nodes.size(); });
  REQUIRE(kernel != tuned.kernels.end());
  CHECK(kernel->algorithm == "direct");
  CHECK(std::ranges::any_of(kernel->others, [](const tune::AlgorithmResult& other) { return other.trials > 0; }));
  CHECK(kernel->is_used);
  CHECK(kernel->point_algorithm.starts_with("winograd"));
  REQUIRE(tuned.comparison);
  INFO("the default took " << tuned.comparison->times.ratio << " times as long, from " << tuned.comparison->times.low
                           << " to " << tuned.comparison->times.high);
  CHECK(tuned.is_faster);
  CHECK(tuned.comparison->difference().empty());

  CHECK(std::ranges::none_of(kernel->others, [](const auto& other) { return other.state == KernelState::failed; }));

  const std::vector<TuneRecord> records = file.records();
  const auto recorded = std::ranges::find(records, kernel->point_algorithm, &TuneRecord::algorithm);
  REQUIRE(recorded != records.end());
  CHECK(recorded->confirmed);
  CHECK(recorded->key.program == tune::program_hash(kernel_of(source, target).program, {}));
  // Its trials are records of the program by itself, as for any other program.
  const Hash other = tune::program_hash(other_of(kernel_of(source, target), recorded->algorithm).program, {});
  CHECK(std::ranges::count(records, other, [](const TuneRecord& one) { return one.key.program; }) > 0);

  const Told told = compiled(source, target, file.name);
  CHECK_MESSAGE(told.text.find("the algorithm (" + recorded->algorithm + ") and its schedule are from records.jsonl") !=
                    std::string::npos,
                told.text);
  const tune::RecordedSchedules again(*own_compiler(), file.name, 1);
  CHECK(kernel_of(source, target, &again).algorithm == recorded->algorithm);
  CHECK(again.identity(target) != tune::RecordedSchedules(*own_compiler(), "/no/such/file", 1).identity(target));

  // Without trials the run only compares, and has what was recorded among its candidates.
  TuneOptions only_compares = options_for(file);
  only_compares.trials = 0;
  const tune::TunedNetwork compared = tune::tune_network(this_machine(), {source, {}, kSmallCache}, only_compares);
  CHECK(compared.progress.count() == 0);
  CHECK(std::ranges::any_of(compared.kernels, [](const auto& one) { return !one.point_algorithm.empty(); }));
}

TEST_CASE("an algorithm that is slower in the network is not used there, whatever it took by itself") {
  const KernelSource source = network(64, 28);
  const tune::TunedKernel tuned{source, {}, {}};
  const RecordsFile file;
  const TuneOptions options = options_for(file);
  const bench::NamedDevice device = this_machine()[0];
  const tune::NetworkProfile profile = tune::profile_network(device, tuned, options, {});
  const NetworkProgram kernel = kernel_of(source, profile.target);
  REQUIRE(kernel.algorithm == "winograd4");
  const auto at = std::ranges::find(profile.kernels, kernel.kernel, &NetworkProgram::kernel);
  const TuneRecord direct = record_of(kernel, "direct", profile.target, 0.5);
  const std::vector<tune::ConfirmedKernel> confirmed = tune::confirm_in_network(
      {device, tuned, options, profile},
      {tune::in_order(static_cast<std::size_t>(at - profile.kernels.begin()), {direct})}, {}, {});
  REQUIRE(confirmed.size() == 1);
  CHECK_FALSE(confirmed[0].is_faster);
  CHECK(confirmed[0].record.algorithm == "direct");
  CHECK(*tune::share_of_default(confirmed[0].record) > 1.1);
}

TEST_CASE("a recorded algorithm is used within the error limit, and not where the user wants none") {
  const Target target = target_here("host -l2-bytes=2097152");
  const RecordsFile file;
  throw_failure(
      tune::append_record(file.name, record_of(kernel_of(network(64, 28), target), "winograd2", target, 0.5)));
  const auto algorithm_with = [&](const NetworkSource& limits) {
    const tune::RecordedSchedules recorded(*own_compiler(), file.name, 1);
    const KernelSource source = network(64, 28, limits);
    return kernel_of(source, target, &recorded).kernel;
  };
  CHECK(algorithm_with({}).find("winograd2") != std::string::npos);
  NetworkSource small, off;
  small.max_error = {0.5, 0.4};
  off.winograd = false;
  CHECK(algorithm_with(small).find("winograd") == std::string::npos);
  CHECK(algorithm_with(off).find("winograd") == std::string::npos);
  // The record is of a kernel that uses Winograd's algorithm by default, and says nothing of the direct one.
  CHECK(kernel_of(network(64, 28, off), target).others.empty());
}

TEST_CASE("a record of the direct algorithm does not bring in tiles beyond the limit, and others fill its place") {
  const Target target = target_here(kSmallCache);
  const NetworkProgram kernel = kernel_of(network(64, 7), target);
  const RecordsFile file;
  throw_failure(tune::append_record(file.name, record_of(kernel, "winograd4", target, 0.5)));
  throw_failure(tune::append_record(file.name, record_of(kernel, "winograd2", target, 0.7)));
  const tune::RecordedSchedules recorded(*own_compiler(), file.name, 1);
  CHECK(kernel_of(network(64, 7), target, &recorded).algorithm == "winograd4");
  NetworkSource limits;
  limits.max_error = {1, 1};
  CHECK(kernel_of(network(64, 7, limits), target, &recorded).algorithm == "winograd2");
  limits.max_error = {0.1, 0.1};
  CHECK(kernel_of(network(64, 7, limits), target, &recorded).algorithm.empty());
  // A kernel by itself cannot be computed otherwise, and its own schedules are not shadowed.
  CHECK_FALSE(recorded.find(kernel.program, {}, target, nullptr, {}).has_value());
}

TEST_CASE("with a recorded algorithm each node computes what its definition says") {
  const Target target = target_here(kSmallCache);
  KernelSource source = network(64, 7);
  const RecordsFile file;
  throw_failure(tune::append_record(file.name, record_of(kernel_of(source, target), "winograd4", target, 0.5)));
  source.tuned = std::make_shared<tune::RecordedSchedules>(*own_compiler(), file.name, 1);
  test::check_nodes(source, target);
}
