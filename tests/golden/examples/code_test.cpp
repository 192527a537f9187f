// Keeps figures of the machine code of every example on four CPUs in code.txt, a line each: a change of the compiler
// shows there what it does to code, in numbers that a reviewer can judge. FERRY_UPDATE_GOLDEN=1 rewrites the file.
// scripts/compare_compilers.sh compares all modules byte by byte.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "crosscompile/codegen/llvm/target/disassemble.h"
#include "module/module_file.h"
#include "tests/golden/examples/code_figures.h"
#include "tests/golden/examples/module_record.h"
#include "tests/paths.h"

using namespace ferry;
using namespace ferry::test;

namespace {

const std::string kFile = FERRY_SOURCE_DIR "/tests/golden/examples/code.txt";
const char* const kHeading =
    "# The machine code of each example with its default schedule for any sizes. golden_examples_test compares;\n"
    "# FERRY_UPDATE_GOLDEN=1 rewrites (docs/testing.md). Code is compared only where the tools that make it are "
    "these.\n";
constexpr int kExplained = 20;  // further differences are counted

struct Job {
  const ExampleCase* example;
  const PinnedTarget* target;
  std::string figures;
};

// Each architecture, with its vectors.
std::vector<PinnedTarget> chosen_targets() {
  static const std::set<std::string> names{"x86-64-v4", "raspberry-pi-2", "raspberry-pi-4", "riscv64-v"};
  std::vector<PinnedTarget> targets;
  for (const PinnedTarget& target : pinned_targets())
    if (names.contains(target.name)) targets.push_back(target);
  return targets;
}

std::string figures_of_code(const ExampleCase& example, const PinnedTarget& target) {
  try {
    const std::vector<std::uint8_t> bytes = compiled_bytes(example, target);
    const Result<ModuleFile> module = read_module(bytes);
    if (!module.is_ok()) return std::to_string(bytes.size()) + " bytes of an object, which calls C";
    return to_text(figures_of(codegen::disassemble(module.value().images.front().bytes, target.target)));
  } catch (const std::exception& error) {
    const std::string message = error.what();
    return "refused: " + message.substr(0, message.find('\n'));
  }
}

void compile_all(std::vector<Job>& jobs) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++)
      jobs[i].figures = figures_of_code(*jobs[i].example, *jobs[i].target);
  };
  std::array<std::thread, 2> threads;
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
}

// The same text for the same tools. Those of the targets are the same for all four.
std::string tools_text(const PinnedTarget& target) {
  std::string text;
  const std::map<std::string, std::string> versions = tool_versions();
  for (const std::string& tool : target.tools) text += "tool " + tool + ": " + versions.at(tool) + "\n";
  return text;
}

}  // namespace

TEST_CASE("the machine code of the examples has the figures that were kept") {
  const std::vector<ExampleCase> examples = example_cases();
  const std::vector<PinnedTarget> targets = chosen_targets();
  REQUIRE(targets.size() == 4);
  const std::string tools = tools_text(targets.front());
  std::vector<Job> jobs;
  for (const ExampleCase& example : examples)
    if (example.kind == ExampleCase::Kind::any_size && example.for_cpus)
      for (const PinnedTarget& target : targets) jobs.push_back({&example, &target, {}});
  const auto key = [](const Job& job) { return job.example->command + " for " + job.target->name; };

  std::map<std::string, std::string> kept;
  std::string kept_tools;
  if (getenv("FERRY_UPDATE_GOLDEN") == nullptr) {
    std::ifstream file(kFile);
    REQUIRE_MESSAGE(file.is_open(), kFile);
    std::string command;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("tool ")) kept_tools += line + "\n";
      if (line.empty() || line.starts_with("#") || line.starts_with("tool ")) continue;
      const std::size_t colon = line.find(": ");
      if (line.starts_with("  "))
        kept[command + " for " + line.substr(2, colon - 2)] = line.substr(colon + 2);
      else
        command = line;
    }
    if (kept_tools != tools) {
      MESSAGE("skipped: " << kFile << " was written with\n" << kept_tools << "and this machine has\n" << tools);
      return;
    }
  }

  compile_all(jobs);
  if (getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file(kFile);
    file << kHeading << tools;
    const ExampleCase* last = nullptr;
    for (const Job& job : jobs) {
      if (job.example != last) file << "\n" << job.example->command << "\n";
      last = job.example;
      file << "  " << job.target->name << ": " << job.figures << "\n";
    }
    return;
  }
  int different = 0;
  for (const Job& job : jobs) {
    const std::string expected = kept.contains(key(job)) ? kept[key(job)] : "nothing: it is new";
    if (job.figures == expected || ++different > kExplained) continue;
    FAIL_CHECK(key(job) << "\n  expected " << expected << "\n  got      " << job.figures);
  }
  std::set<std::string> made;
  for (const Job& job : jobs) made.insert(key(job));
  for (const auto& [name, figures] : kept)
    CHECK_MESSAGE(made.contains(name), kFile, " has ", name, ", which nothing makes: FERRY_UPDATE_GOLDEN=1 removes it");
  CHECK_MESSAGE(different == 0, different, " of ", jobs.size(),
                " differ. scripts/compare_compilers.sh BASE names all modules that do, and 'ferry compile --emit asm' "
                "shows one. If the change is meant, FERRY_UPDATE_GOLDEN=1 keeps what is compiled now.");
}
