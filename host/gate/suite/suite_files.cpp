#include "host/gate/suite/suite_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/printable.h"

namespace ferry::gate {
namespace {

constexpr const char* kFileMark = "=@";

bool is_named_schedule(const std::string& schedule) {
  return schedule.empty() || schedule == kDefaultSchedule || schedule == kUnscheduled;
}

void resolve(const std::string& folder, std::string& file) {
  if (folder != "." && !file.empty() && file.front() != '/') file.insert(0, folder == "/" ? folder : folder + "/");
}

void resolve_inputs(const std::string& folder, std::vector<std::string>& texts) {
  for (std::string& text : texts) {
    std::string file = file_of_input(text);
    if (file.empty()) continue;
    text.resize(text.size() - file.size());
    resolve(folder, file);
    text += file;
  }
}

std::vector<std::string> files_of(const SuiteCase& one) {
  std::vector<std::string> files = {one.kernel.file};
  if (!is_named_schedule(one.kernel.schedule.file)) files.push_back(one.kernel.schedule.file);
  if (!one.records.empty()) files.push_back(one.records);
  for (const auto* texts : {&one.kernel.bindings, &one.call.arguments})
    for (const std::string& text : *texts)
      if (std::string file = file_of_input(text); !file.empty()) files.push_back(std::move(file));
  return files;
}

}  // namespace

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
}

bool is_stdin(const std::string& file) { return file == "-"; }

std::string file_of_input(const std::string& text) {
  const std::size_t at = text.find(kFileMark);
  return at == std::string::npos || at == 0 || text.find('=') != at ? "" : text.substr(at + strlen(kFileMark));
}

void resolve_files(const std::string& folder, SuiteCase& one) {
  resolve(folder, one.kernel.file);
  if (!is_named_schedule(one.kernel.schedule.file)) resolve(folder, one.kernel.schedule.file);
  resolve(folder, one.records);
  resolve_inputs(folder, one.kernel.bindings);
  resolve_inputs(folder, one.call.arguments);
}

Status check_files(const std::string& suite_file, const SuiteCase& one) {
  for (const std::string& file : files_of(one)) {
    struct stat info{};
    const char* mistake = nullptr;
    if (stat(file.c_str(), &info) != 0) {
      mistake = strerror(errno);
    } else if (!S_ISREG(info.st_mode)) {
      mistake = "expected a file, got something else";
    }
    if (mistake == nullptr) continue;
    return {ErrorCode::invalid_argument, printable(suite_file) + ":" + std::to_string(one.line) + ": cases." +
                                             one.name + ": " + printable(file) + ": " + mistake};
  }
  return {};
}

}  // namespace ferry::gate
