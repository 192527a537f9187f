// Tests of the ferry without a compiler (FERRY_COMPILER=OFF): what it links, the modules it runs, and its messages
// about missing commands.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry::test;

namespace {

constexpr std::uintmax_t kMostBytes = 3'400'000;

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> piece;
  while (const std::size_t count = fread(piece.data(), 1, piece.size(), pipe)) output.append(piece.data(), count);
  CHECK(pclose(pipe) == 0);
  return output;
}

// Compiles a module with the full ferry.
std::string compiled(const Folder& folder, const std::string& target) {
  const std::string module = folder.path("mm." + target + ".ferry");
  std::vector<std::string> words = {"compile", folder.file("mm.tc", kMatmul), "--target", target, "-o", module};
  if (target == "opencl") {
    const char* schedule =
        "split m 8 -> a b; split n 8 -> c d; reorder a c b d k; bind a blockIdx.y; bind c blockIdx.x; "
        "bind b threadIdx.y; bind d threadIdx.x";
    words.insert(words.end(), {"--schedule-text", schedule});
  }
  const Outcome outcome = run_ferry(words);
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  return module;
}

}  // namespace

TEST_CASE("the client without a compiler is small and needs the C library alone") {
  CHECK(std::filesystem::file_size(client_program()) < kMostBytes);
  std::istringstream lines(output_of("readelf -d " + client_program()));
  for (std::string line; std::getline(lines, line);) {
    if (!contains(line, "(NEEDED)")) continue;
    const bool is_libc = contains(line, "[libc.so.6]") || contains(line, "[libm.so.6]") ||
                         contains(line, "[libdl.so.2]") || contains(line, "[ld-linux");
    CHECK_MESSAGE(is_libc, line);
  }
}

TEST_CASE("the client without a compiler runs, checks, times, compares and shows what was compiled elsewhere") {
  const Folder folder;
  for (const char* target : {"host", "opencl"}) {
    CAPTURE(target);
    const std::string module = compiled(folder, target);
    const Outcome run = run_client({"run", module, "--size", "M=33,N=34,K=35", "--check"});
    INFO(run.out << run.err);
    CHECK(run.code == 0);
    CHECK(contains(run.out, "C: "));
    const Outcome bench = run_client({"bench", module, "--size", "M=33,N=34,K=35", "--repeat", "3", "--json"});
    INFO(bench.out << bench.err);
    CHECK(bench.code == 0);
    CHECK(contains(bench.out, "\"median_seconds\""));
    const Outcome inspect = run_client({"inspect", module});
    CHECK(inspect.code == 0);
    CHECK(contains(inspect.out, "mm(in f32[M,K] A"));
  }
  // Each process of a comparison on OpenCL builds its kernels anew, which takes longer than all else here.
  const bool is_long = std::getenv("FERRY_CLIENT_ALL") != nullptr;
  for (const char* target : is_long ? std::vector<const char*>{"host", "opencl"} : std::vector<const char*>{"host"}) {
    CAPTURE(target);
    const std::string module = compiled(folder, target);
    const Outcome compare =
        run_client({"compare", module, module, "--size", "M=33,N=34,K=35", "--processes", "3", "--repeat", "3"});
    INFO(compare.out << compare.err);
    CHECK(compare.code == 0);
    CHECK(contains(compare.out, "verdict"));
  }
  CHECK(run_client({"device"}).code == 0);
  CHECK(run_client({"ping"}).code == 0);
}

TEST_CASE("a kernel for a GPU is refused on a machine without its driver, with what to do") {
  const Folder folder;
  const std::string module = folder.path("mm.ferry");
  const Outcome compiled =
      run_ferry({"compile", "-e", kMatmul, "--target", "cuda -arch=sm_90 -compiler=llvm", "--schedule-text",
                 "split n 32; bind m blockIdx.x; bind n.inner threadIdx.x", "-o", module});
  CAPTURE(compiled.err);
  REQUIRE(compiled.code == 0);
  const Outcome outcome = run_client({"run", module, "--size", "M=1,N=1,K=1"});
  if (outcome.code == 0) return;  // this machine has a GPU
  CHECK(outcome.code == 3);
  CHECK(outcome.err ==
        "ferry: this server has no device 'cuda': this machine has no CUDA driver: there is no "
        "libcuda.so.1; install NVIDIA's driver\n");
}

TEST_CASE("what needs a compiler is refused in a sentence that says what to do") {
  const Folder folder;
  const std::string text = folder.file("mm.tc", kMatmul);
  const std::string source = folder.file("mm.c", "// ferry: mm(f32 a)\n");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"compile", text, "-o", folder.path("x.ferry")},
           {"export", text, "-o", folder.path("x")},
           {"diff", text, "none", "default"},
           {"targets"},
           {"inspect", "net.onnx"},
           {"check", text, "--size", "M=1,N=1,K=1"},
           {"run", text, "--size", "M=1,N=1,K=1"},
           {"run", source},
           {"bench", text, "--size", "M=1,N=1,K=1", "--target", "llvm -mtriple=aarch64-linux-gnu"}}) {
    const Outcome outcome = run_client(words);
    CAPTURE(words[0]);
    CAPTURE(outcome.out);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err,
                           "needs a compiler, which this ferry is built without: compile kernels to "
                           ".ferry modules with a whole ferry"),
                  outcome.err);
  }
}
