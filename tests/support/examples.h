// The numbered examples, and the lines "# key words" in the comments of their schedules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ferry::test {

// In order of their names.
std::vector<std::filesystem::path> example_files(const std::string& extension);
// What follows "# key " in the lines that begin so.
std::vector<std::string> lines_of(const std::string& text, const std::string& key);
// The same, word by word.
std::vector<std::vector<std::string>> words_of(const std::string& text, const std::string& key);
std::string text_of(const std::filesystem::path& file);
// Of examples/NAME.VARIANT.schedule, examples/NAME.tc.
std::filesystem::path kernel_of(const std::filesystem::path& schedule);

}  // namespace ferry::test
