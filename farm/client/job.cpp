#include "farm/client/job.h"

#include <cstdlib>

namespace ferry::farm {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The variables of a system for continuous integration that say what is built, from which commit, and in which job.
struct System {
  const char* project;
  const char* commit;
  const char* number;
  const char* job;
};
constexpr System kSystems[] = {
    {"GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_RUN_ID", "GITHUB_JOB"},
    {"CI_PROJECT_PATH", "CI_COMMIT_SHA", "CI_JOB_ID", "CI_JOB_NAME"},
    {"BUILDKITE_PIPELINE_SLUG", "BUILDKITE_COMMIT", "BUILDKITE_BUILD_NUMBER", "BUILDKITE_LABEL"},
    {"CIRCLE_PROJECT_REPONAME", "CIRCLE_SHA1", "CIRCLE_BUILD_NUM", "CIRCLE_JOB"},
    {"JOB_NAME", "GIT_COMMIT", "BUILD_NUMBER", ""},
};
constexpr std::size_t kCommitLetters = 12;

}  // namespace

std::string job_of_environment() {
  if (const std::string own = variable("FERRY_JOB"); !own.empty()) return own;
  for (const System& system : kSystems) {
    const std::string project = variable(system.project), number = variable(system.number);
    if (project.empty() || number.empty()) continue;
    const std::string commit = variable(system.commit).substr(0, kCommitLetters);
    const std::string job = *system.job == 0 ? "" : variable(system.job);
    return project + (commit.empty() ? "" : " at " + commit) + ", run " + number + (job.empty() ? "" : " of " + job);
  }
  return {};
}

}  // namespace ferry::farm
