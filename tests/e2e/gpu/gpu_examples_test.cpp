// Tests of the examples on a GPU: checked thread by thread, run by PoCL, and compiled for CUDA by NVRTC and by LLVM.
// Examples that have schedules for GPUs run under these, at their first sizes, and a third of them are compiled and
// checked in every way; an eighth of all examples run under ferry's default. FERRY_GPU_EXAMPLES_ALL does all
// of this for all of them, as in gpu_examples_long_test. FERRY_GPU_EXAMPLES_SEED draws others. gpu_races_test and
// gpu_ptx_test run examples too.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/support/examples.h"
#include "tests/support/ptxas.h"
#include "tests/support/sample.h"

using namespace ferry::test;

namespace {

using Words = std::vector<std::string>;

constexpr const char* kSeed = "FERRY_GPU_EXAMPLES_SEED";

bool is_long() { return std::getenv("FERRY_GPU_EXAMPLES_ALL") != nullptr; }

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_fine(const Words& words) {
  const Outcome outcome = run_ferry(words);
  std::string command = "ferry";
  for (const std::string& word : words) command += " " + word;
  INFO(command << "\n" << outcome.out.substr(0, 2000) << outcome.err);
  CHECK(outcome.code == 0);
}

// Compiles to PTX without NVIDIA's compiler and passes the result to NVIDIA's assembler.
void expect_assembles(const Words& words) {
  use_test_packages();
  const Outcome outcome = run_ferry(joined({"compile", "--target", "cuda -arch=sm_80", "--emit", "ptx"}, words));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(assembled(outcome.out, "sm_80") == "");
}

// Extracts from a "try" line the arguments that select what is compiled: "--fn F", "--fix SIZES".
Words compiled_of(const Words& words) {
  Words compiled;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    if (words[i] == "--fn" || words[i] == "--fix") compiled.insert(compiled.end(), {words[i], words[i + 1]});
  return compiled;
}

}  // namespace

TEST_CASE("examples with schedules for GPUs have no races, compute what they say, and compile for CUDA") {
  const Folder folder;
  int count = 0;
  for (const std::filesystem::path& path : example_files(".schedule")) {
    const std::string text = text_of(path), kernel = kernel_of(path).string();
    if (lines_of(text, "target").empty()) continue;
    ++count;
    const Words schedule{"--schedule", path.string()};
    const bool is_drawn = is_long() || part_of(path.filename().string(), 3, sample_seed(kSeed)) == 0;
    std::vector<Words> all_sizes = words_of(text, "try");
    if (!is_long()) all_sizes.resize(1);
    for (const Words& sizes : all_sizes) {
      // Half are interpreted, and the other half run; gpu_races_test runs half of all in a simulator as well.
      const bool is_interpreted = is_long() || part_of(path.filename().string(), 2, sample_seed(kSeed)) == 0;
      if (is_interpreted) expect_fine(joined(joined({"check", kernel, "--target", "opencl"}, sizes), schedule));
      if (is_drawn) expect_fine(joined(joined({"check", kernel, "--target", "cuda -arch=sm_80"}, sizes), schedule));
      if (is_long() || !is_interpreted)
        expect_fine(joined(joined({"run", kernel, "--target", "opencl", "--check"}, sizes), schedule));
    }
    if (!is_drawn) continue;  // gpu_ptx_test compiles all of them for CUDA
    const Words compiled = compiled_of(all_sizes.front());
    expect_fine(joined(
        joined({"compile", kernel, "--target", "cuda -arch=sm_80,sm_90", "-o", folder.path("k.ferry")}, compiled),
        schedule));
    expect_assembles(joined(joined({kernel}, compiled), schedule));
  }
  CHECK(count >= 20);
}

TEST_CASE("every example runs on a GPU under ferry's own schedule") {
  const Folder folder;
  std::set<std::string> seen;
  for (const std::filesystem::path& path : example_files(".schedule")) {
    const std::string kernel = kernel_of(path).string();
    for (const Words& sizes : words_of(text_of(path), "try")) {
      const Words compiled = compiled_of(sizes);
      const std::string name = kernel + (compiled.empty() ? "" : compiled[1]);
      if (!seen.insert(name).second) continue;
      const bool is_drawn = part_of(name, 8, sample_seed(kSeed)) == 0;
      if (!is_long() && !is_drawn) continue;
      expect_fine(joined({"check", kernel, "--target", "opencl"}, sizes));
      expect_fine(joined({"run", kernel, "--target", "opencl", "--check"}, sizes));
      expect_fine(joined({"compile", kernel, "--target", "cuda -arch=sm_90", "-o", folder.path("k.ferry")}, compiled));
      expect_assembles(joined({kernel}, compiled));
    }
  }
  CHECK(seen.size() >= 25);
}
