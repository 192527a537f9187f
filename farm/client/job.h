// What a lease is for, so that people who wait can see whose build or experiment has their board.
#pragma once

#include <string>

namespace ferry::farm {

// FERRY_JOB or, in continuous integration, what its variables say: "owner/kernels at 1f3ac0de, run 77 of tests". Empty
// where neither says anything. Knows GitHub, GitLab, Jenkins, Buildkite and CircleCI.
std::string job_of_environment();

}  // namespace ferry::farm
