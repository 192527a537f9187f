// Runs every example in the PTX interpreter, under its schedules for GPUs and under ferry's default, both as PTX from
// LLVM and as PTX that NVRTC makes of the CUDA C: at the sizes of the example and at 0, 1, 7 and 67 x 129 x 65.
#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>
#include <set>

#include "crosscompile/ir/error.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/e2e/gpu_ptx/ptx_device.h"
#include "tests/support/examples.h"

using namespace ferry;
using namespace ferry::test;

namespace {

using Sizes = std::map<std::string, std::int64_t>;

struct Example {
  std::string kernel, function, schedule;
  Sizes fixed, sizes;
  bool has_arguments = false;  // "--arg": only the command line can interpret these
  std::vector<std::string> words;
};

Sizes sizes_of(const std::string& text) {
  Sizes sizes;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size()), equals = text.find('=', begin);
    sizes[text.substr(begin, equals - begin)] = std::stoll(text.substr(equals + 1, end - equals - 1));
    begin = end + 1;
  }
  return sizes;
}

Example example_of(const std::string& kernel, const std::string& schedule, const std::vector<std::string>& words) {
  Example made{kernel, "", schedule, {}, {}, false, words};
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--fn") made.function = words[i + 1];
    if (words[i] == "--fix") made.fixed = sizes_of(words[i + 1]);
    if (words[i] == "--size") made.sizes = sizes_of(words[i + 1]);
    if (words[i] == "--arg") made.has_arguments = true;
  }
  return made;
}

// Returns the examples with their schedules for GPUs, and each kernel once more with ferry's default.
std::vector<Example> examples() {
  std::vector<Example> list;
  std::set<std::string> seen;
  for (const std::filesystem::path& path : example_files(".schedule")) {
    const std::string text = text_of(path), kernel = kernel_of(path).string();
    for (const std::vector<std::string>& words : words_of(text, "try")) {
      if (!lines_of(text, "target").empty()) list.push_back(example_of(kernel, path.string(), words));
      const Example plain = example_of(kernel, "", words);
      if (seen.insert(kernel + " " + plain.function).second) list.push_back(plain);
    }
  }
  return list;
}

std::string name_of(const Example& example) {
  std::string name = example.kernel + " " + example.schedule;
  for (const std::string& word : example.words) name += " " + word;
  return name;
}

// Returns the example's own sizes, then equal sizes, then those of a large product if it is wanted and there are at
// most three.
std::vector<Sizes> sizes_for(const GpuProgram& compiled, const Example& example, bool has_large) {
  std::vector<Sizes> list{example.sizes};
  const std::vector<std::string> names = size_names(compiled);
  if (names.empty()) return list;
  for (const std::int64_t size : {0, 1, 7}) {
    Sizes all;
    for (const std::string& name : names) all[name] = size;
    list.push_back(all);
  }
  if (!has_large || names.size() > 3) return list;
  constexpr std::int64_t kLarge[] = {67, 129, 65};
  Sizes large;
  for (std::size_t i = 0; i < names.size(); ++i) large[names[i]] = kLarge[i];
  list.push_back(large);
  return list;
}

void run_with_arguments(const PtxDevice& device, const Example& example, const std::string& target) {
  std::vector<std::string> words{"run", example.kernel, "--target", target, "--check", "-r", device.address()};
  words.insert(words.end(), example.words.begin(), example.words.end());
  if (!example.schedule.empty()) words.insert(words.end(), {"--schedule", example.schedule});
  const Outcome outcome = run_ferry(words);
  INFO(outcome.out.substr(0, 2000) << outcome.err);
  CHECK(outcome.code == 0);
}

struct Counts {
  int programs = 0, runs = 0, unfit = 0, too_large = 0;
};

bool is_long() { return std::getenv("FERRY_PTX_LONG") != nullptr; }

// Runs every `schedule_step`th example under its own schedule, and every `step`th one under ferry's default; if not
// all, then every third one at the sizes of a large product.
Counts run_examples(const PtxDevice& device, const std::string& target, std::size_t step = 1,
                    std::size_t schedule_step = 1) {
  Counts counts;
  const std::vector<Example> all = examples();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % (all[i].schedule.empty() ? step : schedule_step) != 0) continue;
    const Example& example = all[i];
    INFO(name_of(example) << " on " << target);
    ++counts.programs;
    if (example.has_arguments) {
      run_with_arguments(device, example, target);
      ++counts.runs;
      continue;
    }
    const std::string schedule = example.schedule.empty() ? "" : text_of(example.schedule);
    GpuProgram compiled;
    try {
      compiled = compiled_program(text_of(example.kernel), example.function, schedule, target, example.fixed);
    } catch (const CompileError& error) {
      // Some schedules need more shared memory than older GPUs have.
      const std::string message = error.what();
      CHECK_MESSAGE(
          message.find("bytes of shared memory for a block on the target 'cuda -arch=sm_") != std::string::npos,
          message);
      CHECK_MESSAGE(target.find("sm_80") == std::string::npos, message);
      ++counts.too_large;
      continue;
    }
    for (const Sizes& sizes : sizes_for(compiled, example, step == 1 || i % 3 == 0)) {
      std::string shown;
      for (const auto& [name, size] : sizes) shown += " " + name + "=" + std::to_string(size);
      INFO("sizes:" << shown);
      try {
        const std::string wrong = device.wrong(compiled, sizes);
        CHECK_MESSAGE(wrong.empty(), wrong);
        ++counts.runs;
      } catch (const UnfitSizes&) {
        CHECK(sizes != example.sizes);
        ++counts.unfit;
      }
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("examples compute what they say as PTX of LLVM, at all sizes, without races") {
  const PtxDevice device;
  const Counts counts = run_examples(device, "cuda -arch=sm_80 -compiler=llvm", is_long() ? 1 : 8);
  MESSAGE(counts.programs << " programs, " << counts.runs << " runs, " << counts.unfit << " without meaning");
  CHECK(counts.programs >= (is_long() ? 60 : 15));
  CHECK(counts.runs >= (is_long() ? 200 : 45));
}

TEST_CASE("examples compute what they say as PTX that NVRTC makes of the CUDA C") {
  if (!has_nvrtc()) return;
  const PtxDevice device({"FERRY_FAKE_CUDA_SEED=1"});
  const Counts counts = run_examples(device, "cuda -arch=sm_80 -compiler=nvrtc", is_long() ? 1 : 6, is_long() ? 1 : 2);
  MESSAGE(counts.programs << " programs, " << counts.runs << " runs, " << counts.unfit << " without meaning");
  CHECK(counts.programs >= (is_long() ? 60 : 15));
  CHECK(counts.runs >= (is_long() ? 200 : 40));
}

TEST_CASE("examples compute what they say on older and newer GPUs, in other orders, with copies early and late") {
  if (!is_long()) return;
  for (const int landing : {0, 1}) {
    for (const char* gpu : {"sm_50", "sm_70", "sm_90"}) {
      const PtxDevice device({"FERRY_FAKE_CUDA_ARCH=90", "FERRY_FAKE_CUDA_SEED=" + std::to_string(2 + landing),
                              "FERRY_FAKE_CUDA_LANDING=" + std::to_string(landing)});
      run_examples(device, std::string("cuda -arch=") + gpu + " -compiler=llvm");
    }
  }
}
