// Runs the OpenCL C of every example in Oclgrind, a simulated device that checks every access for data races and for
// out-of-bounds indices. Oclgrind does not support everything that LLVM's optimisations generate. The simulator is
// slow, so a drawn third of the examples with schedules for GPUs run, at the first of their sizes, and an eighth of the
// others; all of them run at all sizes with FERRY_RACES_ALL, as in gpu_races_long_test. FERRY_RACES_SEED draws others.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "module/module_file.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/examples.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::test;

namespace {

using Words = std::vector<std::string>;

constexpr const char* kSimulator = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

struct Simulated {
  Outcome outcome;
  std::string log;  // the simulator's findings
};

Simulated simulated(const Folder& folder, const Words& words) {
  const std::string log = folder.path("log");
  unlink(log.c_str());
  const std::map<std::string, std::string> environment = {{"OCL_ICD_VENDORS", kSimulator},
                                                          {"OCLGRIND_DATA_RACES", "1"},
                                                          {"OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable"},
                                                          {"OCLGRIND_LOG", log},
                                                          // The session with the simulator writes the log.
                                                          {"FERRY_GPU_FOLDERS", folder.path("")}};
  Words all{"run"};
  all.insert(all.end(), words.begin(), words.end());
  Outcome outcome = run_ferry(all, "", environment);
  return {std::move(outcome), access(log.c_str(), R_OK) == 0 ? content_of(log) : ""};
}

void expect_clean(const Folder& folder, const Words& words) {
  const Simulated run = simulated(folder, words);
  std::string command;
  for (const std::string& word : words) command += " " + word;
  INFO("ferry run" << command << "\n" << run.outcome.out.substr(0, 2000) << run.outcome.err);
  CHECK(run.outcome.code == 0);
  CHECK_MESSAGE(run.outcome.out.find("Oclgrind Simulator") != std::string::npos, "it ran somewhere else");
  CHECK_MESSAGE(run.log.empty(), run.log.substr(0, 4000));
}

// 29_tensor_cores needs 98,304 bytes of shared memory, three times what the simulator has, and with more of it one
// product of half numbers takes minutes; `ferry check` checks it for races instead (gpu_examples_test).
bool fits_simulator(const std::string& kernel) { return kernel.find("29_tensor_cores") == std::string::npos; }

bool is_long() { return std::getenv("FERRY_RACES_ALL") != nullptr; }

Words on_opencl(const std::string& kernel, const Words& sizes) {
  Words words{kernel, "--target", "opencl", "--check"};
  words.insert(words.end(), sizes.begin(), sizes.end());
  return words;
}

}  // namespace

TEST_CASE("Oclgrind finds nothing wrong with examples under their schedules for GPUs") {
  const Folder folder;
  int count = 0;
  for (const std::filesystem::path& path : example_files(".schedule")) {
    const std::string text = text_of(path);
    if (lines_of(text, "target").empty() || !fits_simulator(kernel_of(path).string())) continue;
    if (!is_long() && part_of(path.filename().string(), 3, sample_seed("FERRY_RACES_SEED")) != 0) continue;
    ++count;
    for (const Words& sizes : words_of(text, "try")) {
      Words words = on_opencl(kernel_of(path).string(), sizes);
      words.insert(words.end(), {"--schedule", path.string()});
      expect_clean(folder, words);
      if (!is_long()) break;
    }
  }
  CHECK(count >= (is_long() ? 18 : 4));
}

TEST_CASE("Oclgrind finds nothing wrong with examples under ferry's own schedules") {
  const Folder folder;
  const std::uint64_t seed = sample_seed("FERRY_RACES_SEED");
  std::set<std::string> seen;
  int count = 0;
  for (const std::filesystem::path& path : example_files(".schedule")) {
    const std::string kernel = kernel_of(path).string();
    if (!fits_simulator(kernel)) continue;
    for (const Words& sizes : words_of(text_of(path), "try")) {
      const std::string function = sizes.front() == "--fn" ? sizes[1] : "";
      const std::string name = kernel_of(path).stem().string() + function;
      const bool is_drawn = seen.insert(name).second && part_of(name, 8, seed) == 0;
      if (!is_drawn && !is_long()) continue;
      ++count;
      expect_clean(folder, on_opencl(kernel, sizes));
    }
  }
  CHECK(seen.size() >= 25);
  CHECK(count >= (is_long() ? 25 : 3));
}

TEST_CASE("a gather whose place lies outside is refused as on a CPU, and goes nowhere") {
  const Folder folder;
  const Words gather{"-e",     "def rows(float(V,D) table, int(N) place) -> (Y) { Y(n,d) = table(place(n), d) }",
                     "--size", "V=5,D=3",
                     "--arg",  "place=i32[7]:iota"};
  Words words = gather;
  words.insert(words.end(), {"--target", "opencl"});
  const Simulated gpu = simulated(folder, words);
  CHECK_MESSAGE(gpu.log.empty(), gpu.log.substr(0, 2000));
  words = gather;
  words.insert(words.begin(), "run");
  const Outcome cpu = run_ferry(words);
  CHECK(gpu.outcome.code == cpu.code);
  CHECK(gpu.outcome.code != 0);
  CHECK(cpu.err.find("'Y' reads 'table' outside its shape") != std::string::npos);
  CHECK(gpu.outcome.err == cpu.err);
}

TEST_CASE("Oclgrind finds the races of an example without its barriers") {
  const Folder folder;
  const std::string root = FERRY_SOURCE_DIR "/examples/", file = folder.path("mm.ferry");
  const Outcome compiled = run_ferry({"compile", root + "10_matmul.tc", "--fn", "matmul", "--target", "opencl",
                                      "--schedule", root + "10_matmul.gpu.schedule", "-o", file});
  REQUIRE_MESSAGE(compiled.code == 0, compiled.err);
  const std::string bytes = content_of(file);
  Result<ModuleFile> module = read_module({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  REQUIRE(module.is_ok());
  std::vector<std::uint8_t>& image = module.value().images.at(0).bytes;
  std::string text(image.begin(), image.end());
  const std::string barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  int removed = 0;
  for (std::size_t at = 0; (at = text.find(barrier, at)) != std::string::npos; ++removed)
    text.erase(at, barrier.size());
  CHECK(removed > 0);
  image.assign(text.begin(), text.end());
  const std::vector<std::uint8_t> changed = write_module(module.value());
  const std::string path = folder.file("broken.ferry", std::string(changed.begin(), changed.end()));
  const Simulated run = simulated(folder, {path, "--size", "M=37,N=41,K=19"});
  CHECK_MESSAGE(run.outcome.code == 0, run.outcome.err);
  CHECK(run.log.find("data race at local memory address") != std::string::npos);
}
