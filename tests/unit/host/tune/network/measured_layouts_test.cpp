// Layouts of networks by measured times.
#include "host/tune/network/measured_layouts.h"

#include "base/throw_status.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/network/tune_network.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"

#include "tests/support/network_builder.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/tune/loop/tuned_product.h"
#include "tests/unit/host/tune/network/small_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

using namespace ferry;
using test::own_compiler;
using test::RecordsFile;
using test::this_machine;
using tune::NodeTimes;

namespace {

// Three groups in a row, which are in blocks by default, and a plain one.
NetworkLayouts three_groups() {
  NetworkLayouts layouts;
  layouts.question.by_default = "1110";
  layouts.groups = {{"a", true, 12, 10}, {"b", true, 12.5, 10}, {"c", true, 20, 10}, {"last", false, 0, 0}};
  layouts.conversions = {{4, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 3, 1}};
  return layouts;
}

// Three convolutions and a reduction.
KernelSource network(std::int64_t size = 24, const NetworkSource& limits = {}) {
  test::NetworkBuilder network;
  graph::TensorId x = network.input("x", {graph::Size::symbol("N"), 3, size, size});
  std::int64_t from = 3;
  for (const char* name : {"first", "second", "third"}) {
    x = network.node(graph::Operator::conv, {x, network.weights("w", {32, from, 1, 1}, 0.1F)},
                     graph::ConvAttributes{{{}, {}}, 1}, name);
    from = 32;
  }
  network.output(network.node(graph::Operator::reduce_mean, {x}, graph::ReduceAttributes{{2, 3}, true}), "y");
  return test::small_network(network.graph, limits);
}

const SizesByName kSizes = {{"N", 1}};

std::string compiled(const KernelSource& source, const Target& target) {
  CallOptions call;
  call.sizes = {"N=1"};
  std::string all;
  Observer observer;
  observer.message = [&](const std::string& line) { all += line + "\n"; };
  (void)compile_kernel(source, {}, target, call, observer);
  return all;
}

}  // namespace

TEST_CASE("layouts are measured whose estimates are near, but not those of kernels that only blocks have") {
  const NetworkLayouts layouts = three_groups();
  CHECK(tune::layouts_to_measure(layouts, {}) == "0010");
  NetworkProgram winograd;
  winograd.nodes = {"b"};
  winograd.algorithm = "winograd4";
  CHECK(tune::layouts_to_measure(layouts, {winograd}) == "0110");
}

TEST_CASE("measured times take the place of estimates, which are scaled by them elsewhere") {
  const NodeTimes by_default{{"a", 1e-3}, {"b", 4e-3}, {"c", 1e-3}};
  const NodeTimes with_other{{"a", 0.8e-3}, {"b", 4.4e-3}, {"c", 9e-3}, {"b to NCHW16c", 0.3e-3}, {"x", 1}};
  const NetworkLayouts costs = tune::with_measured_costs(three_groups(), "0010", by_default, with_other);
  CHECK(costs.groups[0].blocked == doctest::Approx(1e-3));
  CHECK(costs.groups[0].plain == doctest::Approx(0.8e-3));
  CHECK(costs.groups[1].blocked == doctest::Approx(4e-3));
  CHECK(costs.groups[1].plain == doctest::Approx(4.4e-3));
  // Its layout stayed, so the plain one is the estimate, in which the blocked one took what was measured by default.
  CHECK(costs.groups[2].blocked == doctest::Approx(1e-3));
  CHECK(costs.groups[2].plain == doctest::Approx(2e-3));
  // Two conversions are estimated with either layouts: before `a` and after `c`, and on both sides of `c`.
  for (const NetworkLayouts::Conversion& one : costs.conversions) CHECK(one.cost == doctest::Approx(0.3e-3 / 4));
}

TEST_CASE("a cut by measured times is another one where the other layout saves more than its conversions take") {
  const auto chosen = [](double plain) {
    const NodeTimes by_default{{"a", 1e-3}, {"b", 1e-3}, {"c", 1e-3}};
    const NodeTimes with_other{{"a", plain}, {"b", plain}, {"b to NCHW16c", 0.4e-3}};
    return network().as_network()->network->least_cost_layouts(
        tune::with_measured_costs(three_groups(), "0010", by_default, with_other));
  };
  CHECK(chosen(1.1e-3) == "1110");
  CHECK(chosen(0.5e-3) == "0010");
}

TEST_CASE("layouts that are chosen are those that the network has, and each node computes what its definition says") {
  const Target target = target_for(local_device(), "", network());
  KernelSource source = network();
  const Network& of = *source.as_network()->network;
  const NetworkLayouts layouts = of.layouts({.target = target, .sizes = kSizes});
  REQUIRE(layouts.groups.size() == 4);
  CHECK(of.least_cost_layouts(layouts) == layouts.question.by_default);
  CHECK(layouts.question.by_default.find("111") != std::string::npos);
  const auto text_with = [&](const std::string& chosen) {
    const tune::ChosenSchedules tuned({}, {layouts.question.key, chosen});
    return of.emit(Stage::graph, {.target = target, .sizes = kSizes, .tuned = &tuned}, {}).text;
  };
  const std::string by_default = of.emit(Stage::graph, {.target = target, .sizes = kSizes}, {}).text;
  CHECK(by_default.find("NCHW") != std::string::npos);
  CHECK(text_with(layouts.question.by_default) == by_default);
  CHECK(text_with("0000").find("NCHW") == std::string::npos);
  // Those of another network are not used.
  CHECK(text_with("00000") == by_default);
  CHECK(of.layouts({.target = target, .sizes = {{"N", 2}}}).question.key != layouts.question.key);
  NetworkSource direct;
  direct.winograd = false;
  CHECK(network(24, direct).as_network()->network->layouts({.target = target, .sizes = kSizes}).question.key !=
        layouts.question.key);

  source.tuned =
      std::make_shared<tune::ChosenSchedules>(tune::ChosenPoints(), tune::ChosenLayouts{layouts.question.key, "1001"});
  test::check_nodes(source, target);
}

TEST_CASE("layouts that were faster are found again by every command, and others are not") {
  const Target target = target_for(local_device(), "", network());
  KernelSource source = network();
  const tune::TunedKernel kernel{source, {}, {}};
  const NetworkLayouts layouts = source.as_network()->network->layouts({.target = target, .sizes = kSizes});
  tune::TuneOptions options;
  options.threads = 1;
  const bench::NamedDevice device = this_machine()[0];
  tune::NetworkProfile profile;
  profile.target = target;
  profile.sizes = kSizes;
  const auto told = [&](double share, const std::string& chosen) {
    const RecordsFile file;
    const tune::MeasuredLayouts measured{
        layouts.question.key, layouts.question.by_default, chosen, 4, 1e-3, share, true};
    throw_failure(tune::append_record(file.name, tune::record_of(measured, {device, kernel, options, profile}, "net")));
    CHECK(file.records().size() == 1);
    source.tuned = std::make_shared<tune::RecordedSchedules>(*own_compiler(), file.name, 1);
    return compiled(source, target);
  };
  CHECK(told(0.8, "0000").find("net: the layouts are from records.jsonl: 1.25 times as fast") != std::string::npos);
  CHECK(told(1.1, "0000").find("layouts") == std::string::npos);
  CHECK(told(0.8, "00").find("layouts") == std::string::npos);
}

TEST_CASE("a network says which layouts were measured, and uses others only if they were faster as a whole") {
  const KernelSource source = network(48);
  const tune::TunedKernel kernel{source, {}, {}};
  tune::TuneOptions options;
  options.call.sizes = {"N=1"};
  options.threads = 1;
  const bench::NamedDevice device = this_machine()[0];
  const tune::NetworkProfile profile = tune::profile_network(device, kernel, options, {});
  const std::optional<tune::MeasuredLayouts> measured = tune::measure_layouts({device, kernel, options, profile}, {});
  REQUIRE(measured);
  CHECK(measured->groups > 0);
  CHECK(measured->default_seconds > 0);
  CHECK(measured->is_used == (measured->changed() > 0 && measured->share_in_network < 1 - tune::kLeastGain));
}
