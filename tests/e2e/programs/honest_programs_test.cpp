// Honest kernels must never be suspected: each measurement of a program in processes of its own, with new inputs for
// each call, ends without a result that is missing or differs from that of the other process. A drawn part of the
// programs is measured once; with FERRY_PROGRAMS_ALL all are, again and again, until there are 10,000 measurements.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "ferry/compile.h"
#include "host/measure/timed_results.h"
#include "module/manifest.h"
#include "tests/e2e/programs/program_case.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::test;

namespace {

constexpr std::size_t kParts = 32, kMeasurements = 10'000;

struct Loaded {
  ProgramCase program;
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Argument> arguments;
  Function function;
};

Loaded loaded(const Device& device, const Target& target, ProgramCase program) {
  const lang::Program meaning = program_of(program);
  const Module module = device.load(compile(meaning, schedule_of(program, meaning, target), target));
  const Function function = module[module.manifest().functions.at(0).name];
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Argument> arguments = function.on_device(arguments_of(program, bytes));
  return {std::move(program), std::move(bytes), std::move(arguments), function};
}

void measure(const Loaded& one, std::uint32_t number) {
  INFO(one.program.name << " in samples of " << number << "\n" << one.program.source);
  BenchOptions options{.number = number, .repeat = 4, .min_repeat_ms = 0, .warmup_ms = 0.01, .threads = 2};
  options.isolated = options.fresh_inputs = true;
  bench::look_at_outputs(one.function.info(), draw_secret_seed(), options);
  const Timing timing = one.function.measure(one.arguments, options);
  REQUIRE(timing.isolation != TimingIsolation::none);
  REQUIRE(timing.unwritten == 0);
  REQUIRE(timing.changed == 0);
}

}  // namespace

TEST_CASE("no program is suspected while it is measured") {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/static/rpc_server", {},
                               {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  const Target target = target_of(device);
  const bool is_long = std::getenv("FERRY_PROGRAMS_ALL") != nullptr;
  const std::uint64_t seed = sample_seed("FERRY_PROGRAMS_SEED");
  std::vector<Loaded> programs;
  for (ProgramCase& program : all_cases()) {
    if (!program.failure.empty() || (!is_long && part_of(program.name, kParts, seed) != 0)) continue;
    programs.push_back(loaded(device, target, std::move(program)));
  }
  REQUIRE(programs.size() >= 10);
  std::mt19937_64 random(seed);
  std::size_t count = 0;
  do {
    for (const Loaded& one : programs) {
      measure(one, 1 + static_cast<std::uint32_t>(random() % 5));
      ++count;
    }
  } while (is_long && count < kMeasurements);
  MESSAGE(count << " measurements of " << programs.size() << " programs");
}
