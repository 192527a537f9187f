// Files that other compilers make for tests. They are kept in the build folder under the hash of what they are made of,
// because most test runs need the same ones as the last.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::test {

// Returns the path of the file that `make` writes to the path it is given, now or in an earlier run. `inputs` is
// everything that it depends on; a program among them is its name followed by what identifies its version, see
// version_of(). Processes may ask for the same file concurrently. It is executable, and nobody may modify it.
std::string kept_file(const std::vector<std::string>& inputs, const std::function<void(const std::string& path)>& make);

// Returns a text that changes when a program, found like a shell finds it, is installed anew.
std::string version_of(std::string_view program);

std::string file_contents(const std::string& path);

}  // namespace ferry::test
