// Runs the built ferry as a person would, and keeps what it said.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ferry::test {

struct Outcome {
  int code = -1;  // 128 + the signal that ended it
  std::string out;
  std::string err;
  double seconds = 0;
};

// `environment` is added to ours, from which FERRY_REMOTE is removed; `folder` is where it runs, ours if empty.
Outcome run_ferry(const std::vector<std::string>& words, const std::string& input = "",
                  const std::map<std::string, std::string>& environment = {}, const std::string& folder = "");

// The same with the ferry without a compiler that scripts/build.sh makes.
std::string client_program();
Outcome run_client(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {});

// A folder of the test's own, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and gives its path.
  std::string file(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

std::string content_of(const std::string& path);

// "def mm ...": the kernel most tests use.
extern const char* const kMatmul;

}  // namespace ferry::test
