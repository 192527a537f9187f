// Compiles programs for each architecture, runs them on a server of that architecture (in an emulator unless it is
// this machine's) and compares the results with plain loops in double precision. Of eight drawn parts of the programs
// three run on this machine's architecture and one on each of the three emulated ones; oracles_test.cpp runs the
// others. Those about what differs between architectures run on all four. All run everywhere with FERRY_PROGRAMS_ALL,
// as in programs_long_test; FERRY_PROGRAMS_SEED draws others.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "ferry/compile.h"
#include "module/manifest.h"
#include "tests/e2e/programs/program_case.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/emulated_target.h"
#include "tests/support/listening_server.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::test;

namespace {

void run_case(const Device& device, const Target& target, const ProgramCase& program) {
  INFO(program.name << " on " << target.text << "\n" << program.source);
  const lang::Program meaning = program_of(program);
  const Module module = device.load(compile(meaning, schedule_of(program, meaning, target), target));
  const Function function = module[module.manifest().functions.at(0).name];
  std::vector<std::vector<std::uint8_t>> bytes;
  const std::vector<Argument> arguments = arguments_of(program, bytes);
  if (!program.failure.empty()) {
    std::string message = "the call succeeded";
    try {
      function.call(arguments);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      message = error.what();
    }
    CHECK(message == function.info().name + ": " + program.failure);
    return;
  }
  const std::vector<DeviceTensor> results = function.call(arguments);
  const std::vector<Expected> expected = program.reference(program.arguments);
  REQUIRE(results.size() == expected.size());
  for (std::size_t r = 0; r < results.size(); ++r) {
    CHECK(results[r].dtype() == expected[r].result.dtype);
    REQUIRE(results[r].shape() == expected[r].result.shape);
    std::vector<std::uint8_t> raw(results[r].bytes());
    results[r].read(raw.data());
    check_result(program, expected[r], raw, "output " + std::to_string(r));
  }
}

constexpr std::array<std::string_view, 3> kEmulated = {"armv7", "aarch64", "riscv64"};

std::vector<ProgramCase> all_or_drawn(const std::string& arch) {
  std::vector<ProgramCase> cases = all_cases();
  if (std::getenv("FERRY_PROGRAMS_ALL") != nullptr) return cases;
  std::set<std::string> everywhere;
  for (const auto& about_architectures : {tensorize_cases(), extern_cases()})
    for (const ProgramCase& one : about_architectures) everywhere.insert(one.name);
  const std::uint64_t seed = sample_seed("FERRY_PROGRAMS_SEED");
  std::erase_if(cases, [&](const ProgramCase& one) {
    const std::size_t part = part_of(one.name, kProgramParts, seed);
    const std::string_view drawn = part < kEmulated.size() ? kEmulated[part]
                                   : part < kOracleParts   ? "x86_64"
                                                           : "the interpreter";
    return drawn != arch && !everywhere.contains(one.name);
  });
  return cases;
}

void run_programs(const std::string& arch) {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                               emulator_of(arch), {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  CHECK(device.facts().arch == arch);
  const Target target = target_of(device), for_truncation = target_for_truncation(device);
  for (const ProgramCase& program : all_or_drawn(arch)) {
    run_case(device, program.truncates ? for_truncation : target, program);
  }
}

// Runs what may use AMX's tiles, all of it, on a machine that has them.
void run_tiles() {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/static/rpc_server", {},
                               {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  const Target target = target_of(device);
  if (!target.has("amx-int8") || !target.has("amx-bf16")) {
    MESSAGE("not run: this machine has no AMX");
    return;
  }
  for (const ProgramCase& program : tile_cases()) run_case(device, target, program);
  for (const ProgramCase& program : byte_product_cases()) run_case(device, target, program);
}

// Compiles for boards without instructions for sums of four products, and runs in the emulator of another one. Each
// preset has a drawn sixteenth of the cases, so that half of the cases run for one of those of both architectures.
void run_pairs_of_bytes(const std::string& arch, const std::string& emulator, const std::vector<std::string>& presets,
                        std::size_t first_part) {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                               {emulator, "-cpu", "max"}, {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  const bool is_long = std::getenv("FERRY_PROGRAMS_ALL") != nullptr;
  const std::uint64_t seed = sample_seed("FERRY_PROGRAMS_SEED");
  std::vector<ProgramCase> cases = pairs_of_bytes_cases();
  for (ProgramCase& product : byte_product_cases()) cases.push_back(std::move(product));
  for (std::size_t p = 0; p < presets.size(); ++p)
    for (const ProgramCase& program : cases)
      if (is_long || part_of(program.name, 4 * presets.size(), seed) == first_part + p)
        run_case(device, ferry::target(presets[p]), program);
}

}  // namespace

TEST_CASE("products of bytes in pairs are exact with the presets of 32-bit ARM" * doctest::test_suite("armv7")) {
  run_pairs_of_bytes("armv7", "qemu-arm", {"armv7", "raspberry-pi-2", "raspberry-pi-3-32bit", "raspberry-pi-4-32bit"},
                     0);
}
TEST_CASE("products of bytes in pairs are exact with the presets of 64-bit ARM" * doctest::test_suite("aarch64")) {
  run_pairs_of_bytes("aarch64", "qemu-aarch64", {"aarch64", "raspberry-pi-3", "raspberry-pi-4", "raspberry-pi-5"}, 4);
}

TEST_CASE("products in AMX's tiles are exact where the CPU has them") { run_tiles(); }

TEST_CASE("every program gives the right answer on x86_64") { run_programs("x86_64"); }
// A suite for each emulated architecture: ctest runs them as tests of their own.
TEST_CASE("programs give the right answers on armv7" * doctest::test_suite("armv7")) { run_programs("armv7"); }
TEST_CASE("programs give the right answers on aarch64" * doctest::test_suite("aarch64")) { run_programs("aarch64"); }
TEST_CASE("programs give the right answers on riscv64" * doctest::test_suite("riscv64")) { run_programs("riscv64"); }

TEST_CASE("where the emulator of RISC-V fails at a vector's conversion, the message says so") {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/riscv64/static/rpc_server",
                               emulator_of("riscv64"), {"--quiet"});
  const Device device = connect(server.address());
  const char* source = "def f(float(N) A) -> (B) { B(i) = trunc(A(i)) }";
  const Function function = device.load(compile(source, target_of(device)))["f"];
  const std::vector<float> values(37, 1.5F);
  std::vector<float> results(37, 1.0F);  // the result of a newer emulator
  try {
    results = function(values).to_vector<float>();
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK_MESSAGE(message.find("expected qemu 8 or newer, or a target without v") != std::string::npos, message);
  }
  CHECK(results == std::vector<float>(37, 1.0F));
}

// Separate kernels check the indices of gathers, and the device reports their verdict.
TEST_CASE(
    "what gathers, sequences, places, roundings and sorting compute, and what they refuse, is the same on OpenCL") {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server", {},
                               {"--quiet"});
  ConnectOptions options;
  options.devices = {"opencl"};
  const Device device = connect(server.address(), options);
  const Target target = ferry::target("opencl");
  int refused = 0;
  std::vector<ProgramCase> cases = gather_cases();
  for (const ProgramCase& program : sequence_cases()) cases.push_back(program);
  for (const ProgramCase& program : place_cases()) cases.push_back(program);
  for (const ProgramCase& program : rounding_cases()) cases.push_back(program);
  // The first four sort in every way; a network has dozens of kernels.
  const std::vector<ProgramCase> sorting = sorting_cases();
  cases.insert(cases.end(), sorting.begin(), sorting.begin() + 4);
  const bool is_long = std::getenv("FERRY_PROGRAMS_ALL") != nullptr;
  const std::uint64_t seed = sample_seed("FERRY_PROGRAMS_SEED");
  for (ProgramCase program : cases) {
    // A quarter of those that are not refused are drawn.
    if (!is_long && program.failure.empty() && part_of(program.name, 4, seed) != 0) continue;
    // The schedules of these cases are for CPUs.
    program.schedule.clear();
    program.knobs.clear();
    run_case(device, target, program);
    refused += program.failure.empty() ? 0 : 1;
  }
  CHECK(refused >= 2);
}
