// Tests where drivers keep what they compile.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "device-runtime/session/compute_devices.h"

using namespace ferry::device;

namespace {

constexpr const char* kVariables[] = {"CUDA_CACHE_PATH", "POCL_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR",
                                      "FERRY_GPU_FOLDERS"};

// Restores the environment at its end, in which no such variable is set at first.
class CleanEnvironment {
 public:
  CleanEnvironment() {
    for (const char* variable : kVariables) {
      const char* value = std::getenv(variable);
      before_.emplace_back(value != nullptr, value != nullptr ? value : "");
      unsetenv(variable);
    }
  }
  ~CleanEnvironment() {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i].first) {
        setenv(kVariables[i], before_[i].second.c_str(), 1);
      } else {
        unsetenv(kVariables[i]);
      }
    }
  }

 private:
  std::vector<std::pair<bool, std::string>> before_;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

TEST_CASE("drivers keep their files in the folder of the session, whatever the server's environment says") {
  const CleanEnvironment clean;
  setenv("POCL_CACHE_DIR", "/var/kernels", 1);
  setenv("TMPDIR", "/var/tmp", 1);
  keep_drivers_files_in("/the/session");
  for (const char* name : {"CUDA_CACHE_PATH", "POCL_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR"})
    CHECK(variable(name) == "/the/session");
}

TEST_CASE("a cache of drivers that is among the folders for all sessions stays, and no other") {
  const CleanEnvironment clean;
  setenv("FERRY_GPU_FOLDERS", "/var/more:/var/kernels", 1);
  setenv("CUDA_CACHE_PATH", "/var/kern", 1);
  setenv("POCL_CACHE_DIR", "/var/kernels", 1);
  setenv("TMPDIR", "/var/tmp", 1);
  keep_drivers_files_in("/the/session");
  CHECK(variable("POCL_CACHE_DIR") == "/var/kernels");
  for (const char* name : {"CUDA_CACHE_PATH", "XDG_CACHE_HOME", "TMPDIR"}) CHECK(variable(name) == "/the/session");
}
