#include "crosscompile/foreign/clang_files.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "crosscompile/confine/run_confined.h"

namespace ferry::foreign {
namespace {

namespace fs = std::filesystem;

// Variables with folders, separated by colons, in which clang and the dynamic linker search.
constexpr const char* kFolderVariables[] = {"CPATH",        "C_INCLUDE_PATH",  "CPLUS_INCLUDE_PATH", "COMPILER_PATH",
                                            "LIBRARY_PATH", "LD_LIBRARY_PATH", "GCC_EXEC_PREFIX"};
constexpr const char* kOtherVariables[] = {
    "PATH", "PWD", "LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "SOURCE_DATE_EPOCH"};

// Options whose value may follow without a space; longer ones come first.
constexpr std::string_view kJoinedOptions[] = {"-isystem", "-iquote", "-idirafter", "-isysroot", "-include",
                                               "-imacros", "-I",      "-B",         "-L",        "@"};

std::string home() {
  const char* named = std::getenv("HOME");
  if (named != nullptr && *named != 0) return named;
  const passwd* entry = getpwuid(getuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "";
}

bool contains(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Adds a folder, or what of it may be read.
void add_folder(const std::string& path, std::vector<std::string>& readable) {
  std::error_code error;
  const fs::path folder = fs::canonical(path.empty() ? "." : path, error);
  if (error) return;
  const fs::path of_user = fs::canonical(home(), error);
  if (error || !contains(folder, of_user)) {
    readable.push_back(folder);
    return;
  }
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().native().starts_with('.')) continue;
    if (fs::is_regular_file(entry->symlink_status(ignored))) readable.push_back(entry->path());
  }
}

// Adds what a word of the command line names, if it is a file or folder.
void add_word(std::string_view word, std::vector<std::string>& readable) {
  std::error_code error;
  const auto add = [&](std::string_view text) {
    const std::string path(text);
    if (text.empty() || !fs::exists(path, error)) return;
    if (fs::is_directory(path, error)) {
      add_folder(path, readable);
    } else {
      readable.push_back(path);
    }
  };
  if (!word.starts_with('-')) add(word);
  for (const std::string_view option : kJoinedOptions) {
    if (!word.starts_with(option)) continue;
    add(word.substr(option.size()));
    break;
  }
  if (const std::size_t at = word.find('='); at != std::string_view::npos) add(word.substr(at + 1));
}

// Adds the folders around a program that is not the system's: lib beside bin. A program anywhere else is alone.
void add_program(const std::string& program, std::vector<std::string>& executable) {
  if (program.empty()) return;
  executable.push_back(program);
  const fs::path folder = fs::path(program).parent_path();
  if (folder.filename() != "bin") return;
  for (const char* name : {"bin", "lib", "lib64", "libexec", "include"})
    executable.push_back(folder.parent_path() / name);
}

}  // namespace

confine::AllowedFiles files_of_clang(const std::string& clang, const std::string& file,
                                     const std::vector<std::string>& flags, const std::string& folder) {
  confine::AllowedFiles files;
  files.executable = confine::system_folders();
  add_program(confine::find_program(clang), files.executable);
  files.writable = {folder, "/dev/null"};
  if (!file.empty()) {
    files.readable.push_back(file);
    add_folder(fs::path(file).parent_path(), files.readable);
  }
  for (const std::string& flag : flags) add_word(flag, files.readable);
  for (const char* name : kFolderVariables) {
    const char* value = std::getenv(name);
    std::string rest = value != nullptr ? value : "";
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end != 0) add_folder(rest.substr(0, end), files.readable);
      rest.erase(0, end + 1);
    }
  }
  return files;
}

std::vector<std::string> environment_of_clang(const std::string& folder) {
  // A clang that is ccache's would write to its cache.
  std::vector<std::string> environment = {"TMPDIR=" + folder, "HOME=" + folder, "CCACHE_DISABLE=1"};
  const auto pass = [&](const char* name) {
    if (const char* value = std::getenv(name); value != nullptr) environment.push_back(std::string(name) + "=" + value);
  };
  for (const char* name : kFolderVariables) pass(name);
  for (const char* name : kOtherVariables) pass(name);
  return environment;
}

}  // namespace ferry::foreign
