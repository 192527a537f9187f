#include "tests/golden/examples/example_cases.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>

#include "ferry/lang/text.h"
#include "ferry/schedule/module_schedule.h"
#include "tests/golden/examples/cpp_examples.h"
#include "tests/paths.h"
#include "tests/support/examples.h"

namespace ferry::test {

namespace {

namespace fs = std::filesystem;
using Sizes = std::map<std::string, std::int64_t>;
using Words = std::vector<std::string>;

const fs::path kExamples = FERRY_SOURCE_DIR "/examples";

Sizes sizes_of(const std::string& text) {
  Sizes sizes;
  std::istringstream pairs(text);
  for (std::string pair; std::getline(pairs, pair, ',');)
    sizes[pair.substr(0, pair.find('='))] = std::stoll(pair.substr(pair.find('=') + 1));
  return sizes;
}

// The words that decide what is compiled, of those that also say what it is called with.
struct Choice {
  std::string function, fixed, sizes;

  explicit Choice(const Words& words) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      if (words[i] == "--fn") function = words[i + 1];
      if (words[i] == "--fix") fixed = words[i + 1];
      if (words[i] == "--size") sizes = words[i + 1];
    }
  }
  std::string text() const {
    return (function.empty() ? "" : " --fn " + function) + (fixed.empty() ? "" : " --fix " + fixed) +
           (sizes.empty() ? "" : " --size " + sizes);
  }
};

std::vector<lang::Program> programs_of(const fs::path& kernel, const Choice& choice) {
  const Sizes fixed = sizes_of(choice.fixed);
  std::vector<lang::Program> programs =
      lang::parse(text_of(kernel), kernel.filename().string(), false, {fixed.begin(), fixed.end()});
  if (!choice.function.empty())
    std::erase_if(programs, [&](const lang::Program& program) { return program.name != choice.function; });
  if (programs.empty()) throw std::runtime_error(kernel.string() + " has no def " + choice.function);
  return programs;
}

std::string name_of(const fs::path& kernel) {
  return fs::relative(kernel, kExamples).replace_extension().generic_string();
}

std::string path_of(const fs::path& file) { return "examples/" + fs::relative(file, kExamples).generic_string(); }

ExampleCase default_case(const fs::path& kernel, const Choice& choice) {
  ExampleCase made;
  made.example = name_of(kernel);
  made.command = path_of(kernel) + choice.text();
  made.programs = programs_of(kernel, choice);
  made.kind = choice.text().empty() ? ExampleCase::Kind::any_size : ExampleCase::Kind::sized;
  made.schedules = [programs = made.programs, sizes = sizes_of(choice.sizes)](const Target& target) {
    return autoschedule::default_schedules(programs, target, sizes);
  };
  return made;
}

ExampleCase scheduled_case(const fs::path& kernel, const fs::path& file) {
  const std::string text = text_of(file);
  Choice choice(words_of(text, "run").at(0));
  choice.sizes.clear();  // sizes would choose between default schedules
  ExampleCase made;
  made.example = name_of(kernel);
  made.command = path_of(kernel) + choice.text() + " --schedule " + path_of(file);
  made.programs = programs_of(kernel, choice);
  made.kind = ExampleCase::Kind::scheduled;
  made.for_gpus = !lines_of(text, "target").empty();
  made.for_cpus = !made.for_gpus;
  ScheduleText schedule{text, {}, file.filename().string()};
  for (const std::string& knob : lines_of(text, "knob")) {
    made.command += " --knob " + knob;
    schedule.knobs[knob.substr(0, knob.find('='))] = knob.substr(knob.find('=') + 1);
  }
  std::vector<std::string> functions;
  for (const lang::Program& program : programs_of(kernel, Choice({}))) functions.push_back(program.name);
  made.schedules = [programs = made.programs, schedule, functions](const Target& target) {
    return autoschedule::replay_module_schedule(programs, schedule, target, functions);
  };
  return made;
}

// "10_matmul --fn sgemm --size M=8,N=8,K=8": the words behind each name.
std::vector<std::pair<std::string, Words>> other_sizes() {
  std::vector<std::pair<std::string, Words>> all;
  std::istringstream lines(text_of(FERRY_SOURCE_DIR "/tests/golden/examples/sizes.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    all.emplace_back(name, Words{});
    for (std::string word; words >> word;) all.back().second.push_back(word);
  }
  return all;
}

void add_cases_of(const fs::path& kernel, std::vector<ExampleCase>& cases) {
  std::set<std::string> seen;
  const auto add = [&](const Words& words) {
    const Choice choice(words);
    if (seen.insert(choice.text()).second) cases.push_back(default_case(kernel, choice));
  };
  add({});
  std::vector<fs::path> schedules;
  for (const fs::path& file : example_files(".schedule"))
    if (kernel_of(file) == kernel) schedules.push_back(file);
  for (const fs::path& file : schedules)
    for (const char* key : {"run", "try"})
      for (const Words& words : words_of(text_of(file), key)) add(words);
  for (const auto& [name, words] : other_sizes())
    if (name == name_of(kernel)) add(words);
  for (const fs::path& file : schedules) cases.push_back(scheduled_case(kernel, file));
}

void add_cases_of(const CppExample& example, std::vector<ExampleCase>& cases) {
  ExampleCase made;
  made.example = example.name;
  made.command = "examples/" + example.name + ".cpp " + example.program.name;
  made.is_cpp = true;
  made.programs = {example.program};
  made.schedules = [programs = made.programs](const Target& target) {
    return autoschedule::default_schedules(programs, target);
  };
  cases.push_back(made);
  made.command += " with its own schedule";
  made.kind = ExampleCase::Kind::scheduled;
  made.for_gpus = false;
  made.schedules = [schedule = example.schedule](const Target&) { return std::vector{schedule}; };
  cases.push_back(made);
}

}  // namespace

std::vector<ExampleCase> example_cases() {
  std::vector<fs::path> kernels;
  for (const auto& entry : fs::recursive_directory_iterator(kExamples))
    if (entry.path().extension() == ".tc") kernels.push_back(entry.path());
  std::sort(kernels.begin(), kernels.end());
  std::vector<ExampleCase> cases;
  for (const fs::path& kernel : kernels) add_cases_of(kernel, cases);
  for (const CppExample& example : cpp_examples()) add_cases_of(example, cases);
  return cases;
}

}  // namespace ferry::test
