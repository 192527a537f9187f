#include "farm/client/job.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace ferry::test {
namespace {

// Sets variables, and none else that say what a lease is for.
class Variables {
 public:
  explicit Variables(const std::map<std::string, std::string>& set) {
    for (const char* name : {"FERRY_JOB", "GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_RUN_ID", "GITHUB_JOB",
                             "CI_PROJECT_PATH", "CI_COMMIT_SHA", "CI_JOB_ID", "CI_JOB_NAME", "BUILDKITE_PIPELINE_SLUG",
                             "CIRCLE_PROJECT_REPONAME", "JOB_NAME", "GIT_COMMIT", "BUILD_NUMBER"}) {
      if (const char* value = getenv(name)) before_[name] = value;
      unsetenv(name);
    }
    for (const auto& [name, value] : set) setenv(name.c_str(), value.c_str(), 1);
    for (const auto& [name, value] : set) set_.push_back(name);
  }
  ~Variables() {
    for (const std::string& name : set_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> set_;
};

std::string job(const std::map<std::string, std::string>& variables) {
  const Variables set(variables);
  return farm::job_of_environment();
}

TEST_CASE("what a lease is for is said by FERRY_JOB, or by the variables of continuous integration") {
  const std::map<std::string, std::string> github = {{"GITHUB_REPOSITORY", "lab/kernels"},
                                                     {"GITHUB_SHA", "0123456789abcdef0123"},
                                                     {"GITHUB_RUN_ID", "77"},
                                                     {"GITHUB_JOB", "gate"}};
  CHECK(job({}).empty());
  CHECK(job({{"GITHUB_SHA", "0123"}}).empty());
  CHECK(job(github) == "lab/kernels at 0123456789ab, run 77 of gate");
  CHECK(job({{"CI_PROJECT_PATH", "lab/k"}, {"CI_JOB_ID", "5"}}) == "lab/k, run 5");
  CHECK(job({{"JOB_NAME", "nightly"}, {"BUILD_NUMBER", "8"}, {"GIT_COMMIT", "abc"}}) == "nightly at abc, run 8");
  auto own = github;
  own["FERRY_JOB"] = "tuning conv2d";
  CHECK(job(own) == "tuning conv2d");
}

}  // namespace
}  // namespace ferry::test
