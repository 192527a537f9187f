// Notifications and power cycling, with real commands and a listener on loopback.
#include "farm/hooks/hook_runner.h"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/support/farm/temporary_folder.h"
#include "tests/unit/farm/hooks/loopback_server.h"

namespace ferry::test {
namespace {

using namespace farm;

class Lines {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Waits until the condition holds.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const BoardNotice kNotice{"pi-3", "suspect", "good", "compute takes 2 ms; $(reboot) \x1b[2J\"", 1'767'225'600'123};

TEST_CASE("a board's new state is told to a command and a webhook") {
  const TemporaryFolder folder;
  LoopbackServer server({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  Lines lines;
  HookRunner runner([&](const std::string& line) { lines.add(line); });
  NotifyHooks hooks;
  hooks.command = {"/bin/sh",
                   "-c",
                   "echo \"$1|$2|$FERRY_FARM_BOARD|$FERRY_FARM_STATE|$FERRY_FARM_PREVIOUS|$FERRY_FARM_REASON|"
                   "$FERRY_FARM_TIME\"",
                   "sh",
                   "{board}",
                   "is {state}"};
  hooks.webhook = parse_webhook_url(server.url() + "/hook").value();
  CHECK(runner.notify(hooks, kNotice).is_ok());
  REQUIRE(comes_true([&] { return !server.requests().empty(); }));
  CHECK(lines.all() == std::vector<std::string>{
                           "notification of pi-3: pi-3|is suspect|pi-3|suspect|good|compute takes 2 ms; $(reboot) "
                           "\\x1b[2J\"|1767225600\\n"});
  const std::string request = server.requests().front();
  const auto json = nlohmann::json::parse(request.substr(request.find("\r\n\r\n") + 4));
  CHECK(json == nlohmann::json{{"board", "pi-3"},
                               {"state", "suspect"},
                               {"previous", "good"},
                               {"reason", "compute takes 2 ms; $(reboot) \\x1b[2J\""},
                               {"at_ms", 1'767'225'600'123},
                               {"text", "pi-3 is suspect: compute takes 2 ms; $(reboot) \\x1b[2J\""}});
}

TEST_CASE("a reason is cut, and made valid UTF-8") {
  LoopbackServer server({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  HookRunner runner([](const std::string&) {});
  NotifyHooks hooks;
  hooks.webhook = parse_webhook_url(server.url()).value();
  BoardNotice notice = kNotice;
  notice.reason = std::string(HookRunner::kMaxReasonBytes - 1, 'x') + "\xc3\xbc" + std::string(100'000, 'y');
  CHECK(runner.notify(hooks, notice).is_ok());
  REQUIRE(comes_true([&] { return !server.requests().empty(); }));
  const std::string request = server.requests().front();
  const auto json = nlohmann::json::parse(request.substr(request.find("\r\n\r\n") + 4));
  CHECK(json["reason"] == std::string(HookRunner::kMaxReasonBytes - 1, 'x') + "\\xc3");
}

TEST_CASE("names that no board can have never reach a command") {
  const TemporaryFolder folder;
  const std::string proof = folder.file("proof");
  HookRunner runner([](const std::string&) {});
  NotifyHooks hooks;
  hooks.command = {"/usr/bin/touch", proof};
  const PowerHook power{{"/usr/bin/touch", proof}};
  for (const std::string& name :
       {std::string("--help"), std::string("-rf"), std::string(), std::string("a b"), std::string("a;b"),
        std::string("../x"), std::string("a/b"), std::string("a\nb"), std::string("a\0b", 3), std::string("$(x)"),
        std::string("{state}"), std::string("gr\xc3\xbcn"), std::string(65, 'x')}) {
    CAPTURE(name);
    BoardNotice notice = kNotice;
    notice.board = name;
    CHECK(runner.notify(hooks, notice).code() == ErrorCode::invalid_argument);
    CHECK(runner.power_cycle(power, name, "", [](const Status&) {}).code() == ErrorCode::invalid_argument);
  }
  std::promise<void> done;
  CHECK(runner.power_cycle({{"true"}}, "pi-3", "", [&](const Status&) { done.set_value(); }).is_ok());
  done.get_future().wait();
  CHECK(!std::ifstream(proof).is_open());
}

TEST_CASE("a board's power is switched by its command, and a failure is told and logged") {
  Lines lines;
  HookRunner runner([&](const std::string& line) { lines.add(line); });
  const auto cycle = [&](const PowerHook& hook) {
    std::promise<Status> done;
    const Status accepted =
        runner.power_cycle(hook, "pi-3", "it is silent", [&](const Status& status) { done.set_value(status); });
    return accepted.is_ok() ? done.get_future().get() : accepted;
  };
  CHECK(cycle({{"/bin/sh", "-c", "echo $0 $FERRY_FARM_BOARD $FERRY_FARM_REASON", "port-{board}"}}).is_ok());
  CHECK(cycle({{"/bin/sh", "-c", "exit 3"}}).code() == ErrorCode::unavailable);
  CHECK(cycle({{"sleep", "20"}, std::chrono::milliseconds(100)}).code() == ErrorCode::deadline_exceeded);
  CHECK(cycle({{"echo", "{stat}"}}).code() == ErrorCode::invalid_argument);
  CHECK(cycle({}).code() == ErrorCode::unsupported);
  const auto all = lines.all();
  REQUIRE(all.size() == 4);
  CHECK(all[0] == "power of pi-3: port-pi-3 pi-3 it is silent\\n");
  CHECK(all[1] == "power of pi-3: /bin/sh failed with status 3");
}

TEST_CASE("jobs of a board keep their order, while those of others overtake them") {
  const TemporaryFolder folder;
  const std::string log = folder.file("log");
  std::vector<std::promise<void>> done(41);
  {
    HookRunner runner([](const std::string&) {}, 3);
    // The first one waits until another board's job has run.
    const std::string other = folder.file("other");
    for (std::size_t i = 0; i < 40; ++i) {
      const std::string wait = i == 0 ? "while [ ! -e " + other + " ]; do sleep 0.01; done; " : "";
      const PowerHook hook{{"/bin/sh", "-c", wait + "echo " + std::to_string(i) + " >> " + log}};
      CHECK(runner.power_cycle(hook, "pi-3", "", [&, i](const Status&) { done[i].set_value(); }).is_ok());
    }
    CHECK(runner.power_cycle({{"/usr/bin/touch", other}}, "pi-4", "", [&](const Status&) { done[40].set_value(); })
              .is_ok());
    for (auto& one : done) one.get_future().wait();
  }
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += std::to_string(i) + "\n";
  CHECK(text_of(log) == expected);
}

TEST_CASE("too many waiting jobs are refused at once, and the end forgets those that wait") {
  std::atomic<int> ended = 0;
  std::size_t accepted = 0;
  {
    HookRunner runner([](const std::string&) {}, 1);
    const PowerHook slow{{"sleep", "0.5"}};
    Status refused;
    for (; refused.is_ok(); ++accepted) refused = runner.power_cycle(slow, "pi-3", "", [&](const Status&) { ++ended; });
    CHECK(refused.code() == ErrorCode::busy);
    CHECK(accepted >= HookRunner::kMaxWaiting);
    CHECK(accepted <= HookRunner::kMaxWaiting + 2);
  }
  CHECK(ended < static_cast<int>(accepted) / 2);
}

}  // namespace
}  // namespace ferry::test
