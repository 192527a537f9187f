// Tests that the same kernel gives the same bytes, wherever and whenever it is compiled. Goldens of modules rely on
// this.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/golden/examples/module_record.h"

using namespace ferry;
using namespace ferry::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

// Every backend, and packing, windows, several functions and math functions.
std::vector<std::pair<ExampleCase, PinnedTarget>> chosen() {
  static const std::set<std::string> examples{"examples/02_types.tc", "examples/10_matmul.tc", "examples/18_softmax.tc",
                                              "examples/kernels/conv3x3.tc"};
  static const std::set<std::string> names{"x86-64-v3", "armv7", "opencl", "c", "cuda -arch=sm_80 -compiler=llvm"};
  const std::vector<PinnedTarget> targets = pinned_targets();
  std::vector<std::pair<ExampleCase, PinnedTarget>> pairs;
  for (const ExampleCase& example : example_cases())
    for (const PinnedTarget& target : targets)
      if (examples.contains(example.command) && names.contains(target.name)) pairs.emplace_back(example, target);
  return pairs;
}

// Compiles all that is chosen, once for both tests.
const std::vector<Bytes>& compiled_in_order() {
  static const std::vector<Bytes> all = [] {
    std::vector<Bytes> compiled;
    for (const auto& [example, target] : chosen()) compiled.push_back(compiled_bytes(example, target));
    return compiled;
  }();
  return all;
}

// Sets a variable for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("bytes of a module depend neither on what was compiled before it nor on other threads") {
  const auto pairs = chosen();
  REQUIRE(pairs.size() == 20);
  std::vector<Bytes> backwards(pairs.size());
  std::thread other([&] {
    for (std::size_t i = pairs.size(); i-- > 0;) backwards[i] = compiled_bytes(pairs[i].first, pairs[i].second);
  });
  const std::vector<Bytes>& forwards = compiled_in_order();
  other.join();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    CHECK_MESSAGE(forwards[i] == backwards[i], pairs[i].first.command, " for ", pairs[i].second.name);
}

TEST_CASE("bytes of a module depend neither on the working directory nor on the environment") {
  const auto pairs = chosen();
  const std::filesystem::path here = std::filesystem::current_path();
  const std::vector<Bytes>& before = compiled_in_order();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ferry-other-place-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  {
    const Environment temporary("TMPDIR", folder), home("HOME", folder), language("LC_ALL", "tr_TR.UTF-8"),
        zone("TZ", "Asia/Tokyo"), user("USER", "somebody");
    for (std::size_t i = 0; i < pairs.size(); ++i)
      CHECK_MESSAGE(compiled_bytes(pairs[i].first, pairs[i].second) == before[i], pairs[i].first.command, " for ",
                    pairs[i].second.name);
  }
  std::filesystem::current_path(here);
  std::filesystem::remove_all(folder);
}
