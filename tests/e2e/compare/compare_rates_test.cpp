// Measures the error rates of `ferry compare` on this machine with all its noise, both alone and beside a job that
// occupies a processor.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"

using namespace ferry;
using test::Folder;
using test::Outcome;

namespace {

// A process that keeps a processor busy.
class Hog {
 public:
  Hog() : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(3000);
    while (true) getppid();
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;
  ~Hog() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

int runs() {
  const char* text = getenv("FERRY_COMPARE_RUNS");
  return text != nullptr ? std::max(1, atoi(text)) : 3;
}

// A kernel that sums this many products, so that its work is exactly proportional to `products`.
std::string kernel(int products) {
  return "def work(float(N) X, float(K) W) -> (B) { B(i) +=! X(i) * W(k) where k in 0:" + std::to_string(products) +
         " }";
}

struct Kernels {
  Folder folder;
  std::string usual = folder.file("usual.tc", kernel(2000));
  std::string more = folder.file("more.tc", kernel(2100));  // 5% more work

  nlohmann::json compare(const std::string& a, const std::string& b, int seed, int processes = 12) const {
    const Outcome outcome =
        test::run_ferry({"compare", a, b, "--size", "N=256,K=3000", "--threads", "1", "--seed", std::to_string(seed),
                         "--processes", std::to_string(processes), "--json", "--allow-difference"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out);
  }

  // Compares again, with as many processes as it asks for, where it cannot tell because the machine is noisy.
  nlohmann::json decide(const std::string& a, const std::string& b, int seed) const {
    constexpr int kMost = 100;
    nlohmann::json result = compare(a, b, seed);
    for (int least = 24; least <= kMost && result.at("outcome") == "cannot tell"; least *= 2) {
      const nlohmann::json& enough = result.at("enough_processes");
      result = compare(a, b, seed, std::min(kMost, std::max(least, enough.is_null() ? kMost : enough.get<int>())));
    }
    return result;
  }
};

// Returns the number of runs that ended with this verdict.
int count(const Kernels& kernels, const std::string& a, const std::string& b, const nlohmann::json& slower) {
  int agreed = 0;
  for (int run = 0; run < runs(); ++run) {
    const nlohmann::json result = slower.is_null() ? kernels.compare(a, b, run) : kernels.decide(a, b, run);
    agreed += result.at("slower") == slower ? 1 : 0;
    if (result.at("slower") != slower) {
      MESSAGE("run " << run << ": " << result.at("verdict").get<std::string>() << ", ratio " << result.at("ratio")
                     << ", interval " << result.at("interval_99").dump());
    }
  }
  MESSAGE(agreed << " of " << runs());
  return agreed;
}

int at_least(int percent) { return runs() * percent / 100; }

}  // namespace

TEST_CASE("a kernel against itself, at other addresses in each process, is not called slower") {
  const Kernels kernels;
  CHECK(count(kernels, kernels.usual, kernels.usual, nullptr) >= at_least(97));
}

TEST_CASE("5% more work is called slower") {
  const Kernels kernels;
  CHECK(count(kernels, kernels.more, kernels.usual, "A") >= at_least(95));
}

TEST_CASE("beside a job that takes a processor, a kernel against itself is not called slower" *
          doctest::test_suite("busy")) {
  const Kernels kernels;
  const Hog hog;
  CHECK(count(kernels, kernels.usual, kernels.usual, nullptr) >= at_least(97));
}

TEST_CASE("beside a job that takes a processor, 5% more work is called slower" * doctest::test_suite("busy")) {
  const Kernels kernels;
  const Hog hog;
  CHECK(count(kernels, kernels.usual, kernels.more, "B") >= at_least(95));
}

TEST_CASE("compare prints JSON of a schema with a version, whose keys docs/json.md lists") {
  const Kernels kernels;
  const nlohmann::json result = kernels.compare(kernels.more, kernels.usual, 1);
  CHECK(result.at("schema") == "ferry.compare/2");
  REQUIRE(result.at("processes").size() == 12);
  std::vector<nlohmann::json> paddings;
  for (const auto& process : result.at("processes")) paddings.push_back(process.at("code_padding"));
  std::sort(paddings.begin(), paddings.end());
  CHECK(std::unique(paddings.begin(), paddings.end()) - paddings.begin() > 6);
  const std::string page = test::content_of(FERRY_SOURCE_DIR "/docs/json.md");
  const auto expect_documented = [&](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) {
      CAPTURE(key);
      CHECK(page.find("`" + key + "`") != std::string::npos);
    }
  };
  expect_documented(result);
  expect_documented(result.at("processes")[0]);
  expect_documented(result.at("kernels")[0]);
}
