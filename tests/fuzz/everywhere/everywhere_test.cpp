// Runs some of the fuzzer's cases on servers of the other architectures, in emulators.
#include <doctest/doctest.h>

#include "crosscompile/compile.h"
#include "ferry/compile.h"
#include "host/lower/constant_stages.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/by_api.h"
#include "tests/fuzz/cases/call.h"
#include "tests/fuzz/cases/run_case.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using namespace ferry::fuzz;

namespace {

constexpr std::uint64_t kFirst = 5001;
constexpr std::uint64_t kCases = 40;

bool has_float_to_int(const Node& node) {
  const auto is_integer = [](DType type) { return !is_float(type) && type != DType::boolean; };
  for (const Node& part : node.parts)
    if (has_float_to_int(part) || (is_integer(node.type) && is_float(part.type))) return true;
  return node.text.find("floor(") != std::string::npos || node.text.find("trunc(") != std::string::npos ||
         node.text.find("ceil(") != std::string::npos || node.text.find("round(") != std::string::npos ||
         node.text.find("round_even(") != std::string::npos || node.text.find("exp(") != std::string::npos ||
         node.text.find("sin(") != std::string::npos || node.text.find("cos(") != std::string::npos ||
         node.text.find("tanh(") != std::string::npos || node.text.find("sigmoid(") != std::string::npos;
}

bool suits_emulator(const FuzzCase& fuzz_case, const std::string& arch) {
  if (test::architecture_named(arch).converts_vectors) return true;
  for (const Statement& statement : fuzz_case.statements)
    if (has_float_to_int(statement.value)) return false;
  return true;
}

void run_on(const Device& device, const Target& target, const FuzzCase& fuzz_case) {
  INFO(target.text << "\n" << as_test(fuzz_case));
  const lang::Program program = program_of(fuzz_case);
  const ir::Function lowered = lower::lower(program, schedule::Schedule::replay(program, schedule_of(fuzz_case)));
  const Call call(lowered, fuzz_case.sizes, fuzz_case.seed);
  const Expectation expectation(program, call);
  const Module module = device.load(CompiledModule(compile_module(lower::split_constants(lowered), target).bytes));
  std::vector<ferry::Argument> arguments;
  std::vector<std::size_t> outputs;
  for (std::size_t p = 0; p < call.arguments().size(); ++p) {
    const fuzz::Argument& argument = call.arguments()[p];
    if (argument.direction != Direction::in) outputs.push_back(p);
    if (argument.direction == Direction::out) continue;
    if (argument.kind == ParameterKind::scalar)
      arguments.emplace_back(fuzz_case.sizes.at(argument.name));
    else
      arguments.emplace_back(View{argument.type, argument.shape, argument.memory->data(), argument.strides});
  }
  const std::vector<DeviceTensor> results = module[program.name].call(arguments);
  REQUIRE(results.size() == outputs.size());
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::vector<std::uint8_t> bytes(results[r].bytes());
    results[r].read(bytes.data());
    const std::string difference = expectation.difference(outputs[r], bytes.data());
    CHECK_MESSAGE(difference.empty(), difference);
  }
}

// The cases that are right in the interpreter, which are the same for every architecture.
const std::vector<FuzzCase>& right_cases() {
  static const std::vector<FuzzCase> cases = [] {
    std::vector<FuzzCase> found;
    for (std::uint64_t seed = kFirst; seed < kFirst + kCases; ++seed) {
      const auto [fuzz_case, outcome] = run_seed(seed);
      if (outcome.kind == "outside") continue;
      REQUIRE_MESSAGE(outcome.kind == "ok", outcome.step << ": " << outcome.message << "\n" << as_test(fuzz_case));
      found.push_back(fuzz_case);
    }
    return found;
  }();
  return cases;
}

void run_all(const std::string& arch) {
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                                     test::emulator_of(arch), {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  const Target target = target_of(device);
  for (const FuzzCase& fuzz_case : right_cases()) {
    if (suits_emulator(fuzz_case, arch)) run_on(device, target, fuzz_case);
  }
}

}  // namespace

TEST_CASE("random programs under random schedules compute the same on armv7") { run_all("armv7"); }
TEST_CASE("random programs under random schedules compute the same on aarch64") { run_all("aarch64"); }
TEST_CASE("random programs under random schedules compute the same on riscv64") { run_all("riscv64"); }
