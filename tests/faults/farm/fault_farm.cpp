#include "tests/faults/farm/fault_farm.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/paths.h"

namespace ferry::test {
namespace {

std::vector<std::string> command_of(const RealFarm& farm, const std::string& selector, const std::string& report,
                                    int hold_ms, bool is_once) {
  return {FERRY_BINARY_DIR "/tests/faults/farm/client/ferry_farm_fault_client",
          farm.remote(selector),
          farm.key_file(),
          report,
          std::to_string(hold_ms),
          is_once ? "1" : "0"};
}

void signal_tree(pid_t process, int number) {
  kill(process, number);
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t child = 0; children >> child;) signal_tree(child, number);
}

}  // namespace

FaultClient::FaultClient(const RealFarm& farm, const std::string& name, const std::string& selector, int hold_ms,
                         Leases leases, int network_namespace)
    : report_(farm.file(name + ".report")),
      process_(command_of(farm, selector, report_, hold_ms, leases == Leases::one), farm.file(name + ".log"), {},
               network_namespace) {}

std::vector<LeaseReport> FaultClient::leases() const {
  std::map<int, LeaseReport> found;
  std::ifstream file(report_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    int number = 0;
    double time = 0;
    words >> what >> number >> time;
    LeaseReport& lease = found[number];
    if (what == "granted") {
      lease.granted = time * 1e-9;
      words >> lease.board;
    } else if (what == "call") {
      double received = 0;
      words >> received;
      lease.calls.push_back({time * 1e-9, received * 1e-9});
    } else if (what == "failed") {
      std::getline(words, lease.failure);
    } else if (what == "over") {
      lease.over = time * 1e-9;
    }
  }
  std::vector<LeaseReport> leases;
  for (auto& [number, lease] : found) leases.push_back(std::move(lease));
  return leases;
}

LeaseReport FaultClient::wait_for_call(std::chrono::seconds timeout) const {
  const auto begin = Clock::now();
  for (;;) {
    const std::vector<LeaseReport> all = leases();
    if (!all.empty() && !all.front().calls.empty()) return all.front();
    const std::string failure = all.empty() ? std::string() : all.front().failure;
    const bool may_come = failure.empty() && Clock::now() - begin < timeout;
    REQUIRE_MESSAGE(may_come, "no call after " << seconds_since(begin) << " s: " << failure << process_.output());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string find_overlap(const std::vector<LeaseReport>& leases) {
  for (const LeaseReport& one : leases) {
    if (one.calls.size() < 2) continue;
    const double first = one.calls.front().received, last = one.calls.back().sent;
    for (const LeaseReport& other : leases) {
      if (&other == &one || other.board != one.board) continue;
      const auto between = std::ranges::find_if(
          other.calls, [&](const LeaseReport::Call& call) { return call.sent >= first && call.received <= last; });
      if (between == other.calls.end()) continue;
      std::ostringstream text;
      text << one.board << " served a lease from " << std::fixed << first << " to " << last << ", and another one at "
           << between->sent;
      return text.str();
    }
  }
  return "";
}

std::string find_double_session(const std::string& log) {
  std::istringstream lines(log);
  int open = 0;  // the session's number; 0: there is none
  for (std::string line; std::getline(lines, line);) {
    int number = 0;
    if (line.starts_with("rpc_server listening on ")) open = 0;
    if (std::sscanf(line.c_str(), "session %d: ", &number) != 1 || line.find(": stderr: ") != std::string::npos)
      continue;
    if (open != 0 && open != number) return "session " + std::to_string(open) + " lasts at: " + line;
    open = open == 0 ? number : 0;
  }
  return "";
}

void signal_host(const Process& process, int number) { signal_tree(process.id(), number); }

}  // namespace ferry::test
