#include "host/cli/options/output_option.h"

#include <sys/stat.h>

#include "ferry/error.h"

namespace ferry::cli {

namespace {

void add_file(const std::string& option, const std::string& text, const std::string& expected,
              std::map<std::string, std::string>& files) {
  // A name may contain '=' itself.
  const std::size_t mark = text.find("=@");
  const std::size_t equals = mark == std::string::npos ? text.find('=') : mark;
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError(option + " " + text + ": expected " + expected);
  const std::string file = text.substr(equals + 1);
  const std::string name = text.substr(0, equals);
  if (!files.emplace(name, file.starts_with('@') ? file.substr(1) : file).second)
    throw UsageError(option + " " + text + ": expected one file for " + name + ", got a second one");
}

}  // namespace

std::map<std::string, std::string> parse_outputs(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> outputs;
  for (const std::string& text : texts) add_file("--out", text, "NAME=@FILE.npy", outputs);
  return outputs;
}

ExpectedFiles parse_expected(const std::vector<std::string>& texts) {
  ExpectedFiles expected;
  for (const std::string& text : texts) {
    struct stat status{};
    if (stat(text.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      add_file("--expect", text, "NAME=@FILE.npy, or a folder of such files", expected.files);
    } else if (expected.folder.empty()) {
      expected.folder = text;
    } else {
      throw UsageError("--expect " + text + ": expected one folder, got a second one");
    }
  }
  return expected;
}

}  // namespace ferry::cli
