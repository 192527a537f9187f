// Runs the built ferry like a user would, and captures its output.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ferry::test {

// A kernel for tests of what surrounds kernels.
inline constexpr const char* kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Outcome {
  int code = -1;  // 128 + the signal number if a signal ended it
  std::string out;
  std::string err;
  double seconds = 0;
};

// Runs ferry. `environment` is added to this process's environment, from which FERRY_REMOTE is removed; `folder` is the
// working directory, this process's own if empty.
Outcome run_ferry(const std::vector<std::string>& words, const std::string& input = "",
                  const std::map<std::string, std::string>& environment = {}, const std::string& folder = "");

// The same for the ferry without a compiler that scripts/build.sh builds.
std::string client_program();
Outcome run_client(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {});

// A temporary folder, removed on destruction.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

std::string content_of(const std::string& path);

// The kernel "def mm ..." that most tests use.
extern const char* const kMatmul;

}  // namespace ferry::test
