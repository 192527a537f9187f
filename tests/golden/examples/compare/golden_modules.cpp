// golden_modules RECORDS [--against RECORDS] [--modules FOLDER]: compiles every example on every target and writes the
// records of the modules into a file. With --against it names those that are others than in that file, and exits with 1
// if there are any. --modules also writes the modules. scripts/compare_compilers.sh uses it.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/golden/examples/module_record.h"

using namespace ferry::test;

namespace {

constexpr int kExplained = 20;  // further differences are counted

struct Job {
  const ExampleCase* example;
  const PinnedTarget* target;
  std::string record;
};

struct Options {
  std::string records, against, modules;
};

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    std::string& value = word == "--against"   ? options.against
                         : word == "--modules" ? options.modules
                                               : options.records;
    if (&value == &options.records) {
      value = word;
    } else {
      if (++i == count) throw std::runtime_error("expected a path after " + word);
      value = words[i];
    }
  }
  if (options.records.empty()) throw std::runtime_error("expected RECORDS [--against RECORDS] [--modules FOLDER]");
  return options;
}

// Schedules for given sizes: only for one target of each backend.
bool is_compared(const ExampleCase& example, const PinnedTarget& target) {
  static const std::set<std::string> of_sizes{"x86-64-v4", "raspberry-pi-4", "opencl",
                                              "cuda -arch=sm_80 -compiler=llvm"};
  if (!(target.target.has_thread_blocks() ? example.for_gpus : example.for_cpus)) return false;
  return example.kind != ExampleCase::Kind::sized || of_sizes.contains(target.name);
}

void write_module(const Job& job, const std::string& folder) {
  std::string name = job.example->command + " " + key_of(*job.example, *job.target).target;
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == ' '; }, '_');
  const std::vector<std::uint8_t> bytes = compiled_bytes(*job.example, *job.target);
  std::ofstream(std::filesystem::path(folder) / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void compile_all(std::vector<Job>& jobs, const std::string& folder) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      jobs[i].record = compile_record(*jobs[i].example, *jobs[i].target);
      if (!folder.empty() && !jobs[i].record.starts_with("refused: ")) write_module(jobs[i], folder);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::min(4U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

// Returns the number of modules that are others.
int compare(const std::vector<Job>& jobs, const ModuleRecords& now, ModuleRecords before) {
  for (const auto& [tool, version] : now.tools)
    if (before.tools[tool] != version)
      printf("%s: %s against %s here, which may be why modules differ\n", tool.c_str(), before.tools[tool].c_str(),
             version.c_str());
  int different = 0, same = 0;
  std::map<std::string, int> by_target;
  for (const Job& job : jobs) {
    const auto record = before.modules.find(key_of(*job.example, *job.target));
    if (record == before.modules.end()) {
      printf("new: %s for %s\n", job.example->command.c_str(), job.target->name.c_str());
      continue;
    }
    // NVRTC sometimes allocates other registers when it runs beside itself: a second try, alone.
    const bool is_same =
        job.record == record->second || (std::ranges::find(job.target->tools, "NVRTC") != job.target->tools.end() &&
                                         compile_record(*job.example, *job.target) == record->second);
    before.modules.erase(record);
    if (is_same) {
      ++same;
      continue;
    }
    ++by_target[job.target->name];
    if (++different <= kExplained)
      printf("%s", explain_difference(*job.example, *job.target, record->second, job.record).c_str());
  }
  for (const auto& [key, record] : before.modules) printf("gone: %s for %s\n", key.command.c_str(), key.target.c_str());
  printf("%d modules are the same, %d differ\n", same, different);
  for (const auto& [target, number] : by_target) printf("  %s: %d\n", target.c_str(), number);
  return different;
}

int run(const Options& options) {
  const std::vector<ExampleCase> examples = example_cases();
  const std::vector<PinnedTarget> targets = pinned_targets();
  std::vector<Job> jobs;
  for (const ExampleCase& example : examples)
    for (const PinnedTarget& target : targets)
      if (is_compared(example, target)) jobs.push_back({&example, &target, {}});
  compile_all(jobs, options.modules);
  ModuleRecords records{tool_versions(), {}};
  for (const Job& job : jobs) records.modules[key_of(*job.example, *job.target)] = job.record;
  write_records(options.records, records);
  return !options.against.empty() && compare(jobs, records, read_records(options.against)) > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(options_of(count, words));
  } catch (const std::exception& error) {
    fprintf(stderr, "golden_modules: %s\n", error.what());
    return 2;
  }
}
