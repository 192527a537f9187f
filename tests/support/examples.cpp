#include "tests/support/examples.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/paths.h"

namespace ferry::test {

namespace fs = std::filesystem;

std::vector<fs::path> example_files(const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(FERRY_SOURCE_DIR "/examples"))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> lines_of(const std::string& text, const std::string& key) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# " + key + " ")) found.push_back(line.substr(key.size() + 3));
  return found;
}

std::vector<std::vector<std::string>> words_of(const std::string& text, const std::string& key) {
  std::vector<std::vector<std::string>> found;
  for (const std::string& line : lines_of(text, key)) {
    std::istringstream rest(line);
    found.emplace_back();
    for (std::string word; rest >> word;) found.back().push_back(word);
  }
  return found;
}

std::string text_of(const fs::path& file) {
  std::ostringstream whole;
  whole << std::ifstream(file).rdbuf();
  return whole.str();
}

fs::path kernel_of(const fs::path& schedule) {
  const std::string name = schedule.stem().string();
  return schedule.parent_path() / (name.substr(0, name.find('.')) + ".tc");
}

}  // namespace ferry::test
