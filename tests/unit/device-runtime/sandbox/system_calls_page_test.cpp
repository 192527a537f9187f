// docs/security.md lists the system calls of a session as system_calls.def does. FERRY_UPDATE_GOLDEN=1 writes the list.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ferry::device {
namespace {

constexpr const char* kList = "device-runtime/sandbox/system_calls.def";
constexpr const char* kPage = "docs/security.md";
constexpr const char* kBegin = "<!-- from device-runtime/sandbox/system_calls.def -->\n";
constexpr const char* kEnd = "<!-- end -->\n";

std::string text_of(const char* path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string word(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// What each word of filter.cpp's Rule means to a reader.
const std::map<std::string, std::string> kMeanings = {
    {"allow", "allowed"},
    {"refuse", "refused (EPERM)"},
    {"missing", "refused as missing (ENOSYS)"},
    {"own_process", "allowed for the session's own process"},
    {"thread_only", "allowed to create a thread that shares all descriptors"},
    {"only_read", "allowed to read a limit"},
    {"local_socket", "allowed for local sockets"},
    {"itself", "allowed for the calling thread"},
    {"own_counter", "allowed to count what the calling thread does"},
    {"file_command", "allowed to copy a descriptor and to read its flags"},
    {"receiver_kept", "allowed except to set who receives signals"},
    {"device_command", "allowed to control a counter, and to ask for a terminal"},
    {"terminal_kept", "allowed except to set who receives signals, and to type into a terminal"},
    {"own_memory", "allowed for memory that the session's limit counts"},
    {"process_option", "allowed to name a thread or memory, and to ask what holds"},
    {"parent_kept", "allowed except to outlive the server and to let others inspect the process"},
};

std::string table() {
  std::istringstream lines(text_of(kList));
  std::map<std::string, std::string> strict, gpu;
  std::vector<std::string> strict_order, gpu_order;
  const auto add = [](auto& groups, auto& order, const std::string& rule, const std::string& name) {
    REQUIRE_MESSAGE(kMeanings.contains(rule), rule);
    if (groups[rule].empty()) order.push_back(rule);
    groups[rule] += (groups[rule].empty() ? "" : ", ") + name;
  };
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('('), close = line.find(')');
    if (line.rfind("FERRY_ARM_CALL(", 0) == 0) {
      add(strict, strict_order, "allow", line.substr(open + 1, close - open - 1));
    } else if (line.rfind("FERRY_CALL(", 0) == 0) {
      std::istringstream fields(line.substr(open + 1, close - open - 1));
      std::string name, strict_rule, gpu_rule;
      std::getline(fields, name, ',');
      std::getline(fields, strict_rule, ',');
      std::getline(fields, gpu_rule, ',');
      add(strict, strict_order, word(strict_rule), word(name));
      if (word(gpu_rule) != "allow") add(gpu, gpu_order, word(gpu_rule), word(name));
    }
  }
  std::string text;
  const auto print = [&](const std::string& title, auto& groups, const auto& order, const std::string& rest) {
    text += "| " + title + " | system calls |\n| --- | --- |\n";
    for (const std::string& rule : order) text += "| " + kMeanings.at(rule) + " | " + groups[rule] + " |\n";
    text += rest + "\n";
  };
  print("without a GPU", strict, strict_order,
        "| refused as missing (ENOSYS) | all others; none that is allowed takes a path |\n");
  print("with a GPU", gpu, gpu_order, "| allowed | all others |");
  return text;
}

TEST_CASE("the page lists the system calls of a session") {
  std::string page = text_of(kPage);
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd, begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::size_t first = begin + std::string(kBegin).size();
  if (std::getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    page.replace(first, end - first, "\n" + table());
    std::ofstream(kPage) << page;
    return;
  }
  CHECK(page.substr(first, end - first) == "\n" + table());
}

}  // namespace
}  // namespace ferry::device
