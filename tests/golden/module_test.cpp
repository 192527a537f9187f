// Servers load the .ferry files of earlier versions: modules/VERSION/ARCH.ferry was written when VERSION was the
// format's latest, and is never written again. A new version gets a folder of its own.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ferry/client.h"
#include "module/manifest.h"
#include "tests/support/listening_server.h"

using namespace ferry;

namespace {

const std::string kRoot = FERRY_SOURCE_DIR;

std::vector<std::uint8_t> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file, path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// softmax(in f64[N,M] A, in f64 s, out f64[N,M] Y): of rows of A * s, at most 1000 of them. It has a parallel loop,
// both workspaces and a precondition; in version 1 it calls exp of the runtime.
void check_softmax(const Function& softmax) {
  constexpr std::int64_t kRows = 5, kColumns = 19;
  std::vector<double> a;
  for (int i = 0; i < kRows * kColumns; ++i) a.push_back(i * 37 % 23 / 8.0);
  const std::vector<double> got = softmax(view(a, {kRows, kColumns}), 0.5).to_vector<double>();
  for (std::int64_t i = 0; i < kRows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < kColumns; ++j) sum += std::exp(a[static_cast<std::size_t>(i * kColumns + j)] * 0.5);
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const auto at = static_cast<std::size_t>(i * kColumns + j);
      CAPTURE(at);
      CHECK(got[at] == doctest::Approx(std::exp(a[at] * 0.5) / sum).epsilon(1e-13));
    }
  }
  CHECK_THROWS_WITH_AS(softmax(view(std::vector<double>(1001), {1001, 1}), 1.0),
                       "softmax: at most 1000 rows (requires N <= 1000, got N = 1001)", Error);
}

}  // namespace

TEST_CASE("modules of every version of the format still load and run") {
  for (const int version : {1, 4}) {
    for (const std::string arch : {"x86_64", "armv7", "aarch64", "riscv64"}) {
      CAPTURE(version);
      CAPTURE(arch);
      const CompiledModule module(
          read(kRoot + "/tests/golden/modules/" + std::to_string(version) + "/" + arch + ".ferry"));
      CHECK(module.manifest().devices.front().arch == arch);
      CHECK(module.source().find("def softmax") == 0);
      const test::ListeningServer server(kRoot + "/build/device/" + arch + "/static/rpc_server",
                                         test::emulator_of(arch), {"--quiet"});
      check_softmax(connect(server.address()).load(module)["softmax"]);
    }
  }
}
