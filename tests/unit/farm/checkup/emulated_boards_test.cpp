// Checks of boards of other architectures, as they are emulated.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>

#include "farm/checkup/health_check.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"

namespace ferry::test {
namespace {

using namespace farm;

TEST_SUITE_BEGIN("emulated");

TEST_CASE("the reference jobs run on boards of each architecture, with kernels of their own") {
  const std::unique_ptr<const Compiler> compiler = make_compiler();
  ReferenceModules modules(*compiler);
  HealthOptions options;
  options.sizes = {24, 1 << 16, 8};
  options.effort = {2, 0.2, 500, 5};
  std::set<std::string> kernels;
  for (const std::string arch : {"armv7", "aarch64", "riscv64"}) {
    CAPTURE(arch);
    const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                                 emulator_of(arch));
    CheckControl control;
    const HealthOutcome outcome = check_health({BoardId{1}, server.address(), {}}, modules, options, control);
    REQUIRE_MESSAGE(outcome.end == CheckEnd::measured, outcome.text);
    CHECK(outcome.check.sessions.size() == kHealthSessions);
    kernels.insert(outcome.check.environment.kernel);
  }
  CHECK(kernels.size() == 3);
}

TEST_SUITE_END();

}  // namespace
}  // namespace ferry::test
