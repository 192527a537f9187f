// The numbered examples, and the lines "# key words" in the comments of their schedules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ferry::test {

// Returns the examples with this extension, sorted by name.
std::vector<std::filesystem::path> example_files(const std::string& extension);
// Returns the rest of each line that begins with "# key ".
std::vector<std::string> lines_of(const std::string& text, const std::string& key);
// The same, split into words.
std::vector<std::vector<std::string>> words_of(const std::string& text, const std::string& key);
std::string text_of(const std::filesystem::path& file);
// Returns examples/NAME.tc for examples/NAME.VARIANT.schedule.
std::filesystem::path kernel_of(const std::filesystem::path& schedule);

}  // namespace ferry::test
