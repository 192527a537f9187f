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
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
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

// mm(in f32[M,K] A, const in f32[K,N] B, out f32[M,N] C), which reads a packed copy of B.
void check_packed(const Device& device, const Function& mm) {
  constexpr std::int64_t kRows = 3, kDepth = 5, kColumns = 33;
  std::vector<float> a(kRows * kDepth), b(kDepth * kColumns), c(kRows * kColumns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 11);
  for (std::int64_t m = 0; m < kRows; ++m)
    for (std::int64_t n = 0; n < kColumns; ++n)
      for (std::int64_t k = 0; k < kDepth; ++k)
        c[static_cast<std::size_t>(m * kColumns + n)] +=
            a[static_cast<std::size_t>(m * kDepth + k)] * b[static_cast<std::size_t>(k * kColumns + n)];
  const DeviceTensor constant = device.put(view(b, {kDepth, kColumns}));
  for (int call = 0; call < 2; ++call) CHECK(mm(view(a, {kRows, kDepth}), constant).to_vector<float>() == c);
}

// gather(const in i32[N] K, const in i32[M] I, in i32[M] X, out i32[M] Y): Y(i) = K(I(i)) + X(i).
void check_gather(const Function& gather) {
  const std::vector<std::int32_t> k = {10, 20, 30}, x = {1, 2, 3, 4}, sums = {11, 32, 23, 34};
  CHECK(gather(k, std::vector<std::int32_t>{0, 2, 1, 2}, x).to_vector<std::int32_t>() == sums);
  CHECK_THROWS_WITH_AS(gather(k, std::vector<std::int32_t>{0, 2, 3, 2}, x),
                       doctest::Contains("'T' reads 'K' outside its shape"), Error);
}

CompiledModule golden(const std::string& name) { return CompiledModule(read(kRoot + "/tests/golden/modules/" + name)); }

}  // namespace

TEST_CASE("earlier modules that compute values from constants are bound as those of today are") {
  for (const std::string arch : {"x86_64", "armv7", "aarch64", "riscv64"}) {
    CAPTURE(arch);
    const test::ListeningServer server(kRoot + "/build/device/" + arch + "/static/rpc_server", test::emulator_of(arch),
                                       {"--quiet"});
    const Device device = connect(server.address());
    const Module module = device.load(golden("1/packed_" + arch + ".ferry"));
    check_packed(device, module["mm"]);
    check_gather(module["gather"]);
  }
  ConnectOptions options;
  options.devices = {"opencl"};
  const Device device = local_device(options);
  const Module module = device.load(golden("3/packed_opencl.ferry"));
  check_packed(device, module["mm"]);
  check_gather(module["gather"]);
}

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
