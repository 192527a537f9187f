// Keeps what the compiler makes of every example on every target, byte by byte: modules.txt has the hashes. A slice of
// them is compared in every test run, all of them with FERRY_GOLDEN_ALL=1; FERRY_UPDATE_GOLDEN=1 rewrites all of them.
// FERRY_KEEP_MODULES=FOLDER writes what is compiled into the folder.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/golden/examples/module_record.h"

using namespace ferry;
using namespace ferry::test;

namespace {

const std::string kFile = FERRY_SOURCE_DIR "/tests/golden/examples/modules.txt";
constexpr int kExplained = 8;  // further differences are counted

struct Job {
  const ExampleCase* example;
  const PinnedTarget* target;
  std::string record;
};

bool is_set(const char* variable) { return getenv(variable) != nullptr; }

// Schedules for given sizes are kept as text for every target; what becomes of them, for one target of each backend.
bool is_kept(const ExampleCase& example, const PinnedTarget& target) {
  static const std::set<std::string> of_sizes{"x86-64-v4", "raspberry-pi-4", "opencl",
                                              "cuda -arch=sm_80 -compiler=llvm"};
  if (!(target.target.is_gpu() ? example.for_gpus : example.for_cpus)) return false;
  return example.kind != ExampleCase::Kind::sized || of_sizes.contains(target.name);
}

// Each backend and each architecture with its vectors; everything on one CPU and one GPU.
bool in_slice(const ExampleCase& example, const PinnedTarget& target) {
  static const std::set<std::string> one_each{
      "x86-64-v4", "raspberry-pi-2", "raspberry-pi-4",   "riscv64-v",
      "c",         "opencl",         "cuda -arch=sm_80", "cuda -arch=sm_80 -compiler=llvm"};
  static const std::set<std::string> all{"x86-64-v4", "opencl"};
  return (example.kind == ExampleCase::Kind::any_size ? one_each : all).contains(target.name);
}

std::vector<Job> jobs_of(const std::vector<ExampleCase>& examples, const std::vector<PinnedTarget>& targets) {
  std::vector<Job> jobs;
  for (const ExampleCase& example : examples)
    for (const PinnedTarget& target : targets)
      if (is_kept(example, target)) jobs.push_back({&example, &target, {}});
  return jobs;
}

// The names of those tools of the target that are others here than when the hashes were written.
std::vector<std::string> other_tools(const PinnedTarget& target, const ModuleRecords& kept,
                                     const std::map<std::string, std::string>& here) {
  std::vector<std::string> others;
  for (const std::string& tool : target.tools) {
    const auto version = kept.tools.find(tool);
    if (version == kept.tools.end() || version->second != here.at(tool)) others.push_back(tool);
  }
  return others;
}

void keep(const Job& job, const std::string& folder) {
  std::string name = job.example->command + " " + key_of(*job.example, *job.target).target;
  for (char& c : name)
    if (c == '/' || c == ' ') c = '_';
  const std::vector<std::uint8_t> bytes = compiled_bytes(*job.example, *job.target);
  std::ofstream(std::filesystem::path(folder) / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void compile_all(std::vector<Job>& jobs) {
  const char* folder = getenv("FERRY_KEEP_MODULES");
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      jobs[i].record = compile_record(*jobs[i].example, *jobs[i].target);
      if (folder != nullptr && !jobs[i].record.starts_with("refused: ")) keep(jobs[i], folder);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::min(4U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("modules of the examples are byte for byte those that were kept") {
  const bool update = is_set("FERRY_UPDATE_GOLDEN");
  const std::vector<ExampleCase> examples = example_cases();
  const std::vector<PinnedTarget> targets = pinned_targets();
  std::vector<Job> jobs = jobs_of(examples, targets);
  if (update) {
    compile_all(jobs);
    ModuleRecords records{tool_versions(), {}};
    for (const Job& job : jobs) records.modules[key_of(*job.example, *job.target)] = job.record;
    write_records(kFile, records);
    return;
  }

  const ModuleRecords kept = read_records(kFile);
  std::set<ModuleKey> made;
  for (const Job& job : jobs) made.insert(key_of(*job.example, *job.target));
  for (const auto& [key, record] : kept.modules)
    CHECK_MESSAGE(made.contains(key), kFile, " has '", key.command, "' for ", key.target,
                  ", which nothing makes: FERRY_UPDATE_GOLDEN=1 removes it");

  const std::map<std::string, std::string> here = tool_versions();
  std::set<std::string> skipped;
  for (const PinnedTarget& target : targets)
    for (const std::string& tool : other_tools(target, kept, here)) skipped.insert(tool);
  for (const std::string& tool : skipped) {
    const std::string was = kept.tools.contains(tool) ? kept.tools.at(tool) : "none";
    MESSAGE("skipped: modules that depend on " << tool << " are not compared, as " << kFile << " was written with "
                                               << was << ", and this machine has " << here.at(tool));
  }
  std::erase_if(jobs, [&](const Job& job) {
    return (!is_set("FERRY_GOLDEN_ALL") && !in_slice(*job.example, *job.target)) ||
           !other_tools(*job.target, kept, here).empty();
  });
  compile_all(jobs);

  int different = 0;
  std::map<std::string, int> by_target;
  for (const Job& job : jobs) {
    const auto record = kept.modules.find(key_of(*job.example, *job.target));
    const std::string expected = record == kept.modules.end() ? "refused: it is new" : record->second;
    if (job.record == expected) continue;
    // NVRTC sometimes allocates other registers when it runs beside itself, so its cubins get a second try, alone.
    const std::vector<std::string>& tools = job.target->tools;
    if (std::find(tools.begin(), tools.end(), "NVRTC") != tools.end() &&
        compile_record(*job.example, *job.target) == expected) {
      MESSAGE(job.example->command << " for " << job.target->name << " differs only beside other compilations");
      continue;
    }
    ++by_target[job.target->name];
    if (++different <= kExplained) FAIL_CHECK(explain_difference(*job.example, *job.target, expected, job.record));
  }
  std::string counts;
  for (const auto& [target, count] : by_target) counts += "\n  " + target + ": " + std::to_string(count);
  CHECK_MESSAGE(different == 0, different, " of ", jobs.size(),
                " modules differ. Compile one with this build and with the one before, and compare them ('ferry "
                "inspect', --emit lower, --emit asm). If the change is meant, FERRY_UPDATE_GOLDEN=1 keeps what is "
                "compiled now. By target:",
                counts);
  MESSAGE(jobs.size() << " of " << made.size() << " modules compared");
}
