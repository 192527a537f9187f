#include "farm/hooks/hook_runner.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/printable.h"
#include "farm/core/selector/board_name.h"
#include "farm/hooks/command.h"

namespace ferry::farm {
namespace {

using Variables = std::map<std::string, std::string>;

BoardNotice made_printable(BoardNotice notice) {
  notice.reason = printable(std::string_view(notice.reason).substr(0, HookRunner::kMaxReasonBytes));
  return notice;
}

std::string json_of(const BoardNotice& notice) {
  const std::string text = notice.board + " is " + notice.state + ": " + notice.reason;
  return nlohmann::json{{"board", notice.board},   {"state", notice.state}, {"previous", notice.previous},
                        {"reason", notice.reason}, {"at_ms", notice.at_ms}, {"text", text}}
      .dump();
}

// Runs the command and logs how that went.
Status run_and_log(const HookRunner::Log& log, const std::string& what, const std::vector<std::string>& command,
                   const Variables& values, const Variables& environment, std::chrono::milliseconds timeout) {
  const auto words = fill_in(command, values);
  const Result<std::string> output =
      words.is_ok() ? run_command({words.value(), environment, timeout}) : Result<std::string>(words.status());
  if (!output.is_ok()) {
    log(what + ": " + output.status().message());
  } else if (!output.value().empty()) {
    log(what + ": " + printable(output.value()));
  }
  return output.status();
}

void run_notification(const HookRunner::Log& log, const NotifyHooks& hooks, const BoardNotice& notice) {
  const std::string what = "notification of " + notice.board;
  if (!hooks.command.empty())
    static_cast<void>(run_and_log(log, what, hooks.command, {{"board", notice.board}, {"state", notice.state}},
                                  {{"FERRY_FARM_BOARD", notice.board},
                                   {"FERRY_FARM_STATE", notice.state},
                                   {"FERRY_FARM_PREVIOUS", notice.previous},
                                   {"FERRY_FARM_REASON", notice.reason},
                                   {"FERRY_FARM_TIME", std::to_string(notice.at_ms / 1000)}},
                                  hooks.timeout));
  if (!hooks.webhook) return;
  const Status posted = post_json(*hooks.webhook, json_of(notice), hooks.timeout);
  if (!posted.is_ok()) log(what + ": " + posted.message());
}

}  // namespace

HookRunner::HookRunner(Log log, std::size_t at_once) : log_(std::move(log)) {
  for (std::size_t i = 0; i < at_once; ++i) threads_.emplace_back([this] { work(); });
}

HookRunner::~HookRunner() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status HookRunner::notify(const NotifyHooks& hooks, const BoardNotice& notice) {
  FERRY_TRY(check_board_name(notice.board));
  if (hooks.command.empty() && !hooks.webhook) return {};
  return post(notice.board, [this, hooks, notice = made_printable(notice)] { run_notification(log_, hooks, notice); });
}

Status HookRunner::power_cycle(const PowerHook& hook, const std::string& board, const std::string& reason,
                               OnPowered on_done) {
  FERRY_TRY(check_board_name(board));
  if (hook.command.empty())
    return {ErrorCode::unsupported, format("%s has no command that switches its power", board.c_str())};
  const Variables environment = {{"FERRY_FARM_BOARD", board},
                                 {"FERRY_FARM_REASON", printable(std::string_view(reason).substr(0, kMaxReasonBytes))}};
  return post(board, [this, hook, board, environment, on_done = std::move(on_done)] {
    on_done(run_and_log(log_, "power of " + board, hook.command, {{"board", board}}, environment, hook.timeout));
  });
}

Status HookRunner::post(std::string board, std::function<void()> run) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting)
      return {ErrorCode::busy, format("expected at most %zu waiting hooks, got one more", kMaxWaiting)};
    waiting_.push_back({std::move(board), std::move(run)});
  }
  wake_.notify_one();
  return {};
}

std::deque<HookRunner::Job>::iterator HookRunner::next_job() {
  return std::ranges::find_if(waiting_, [this](const Job& job) { return !active_.contains(job.board); });
}

void HookRunner::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_stopping_ || next_job() != waiting_.end(); });
    const auto next = next_job();
    if (next == waiting_.end()) return;
    const Job job = std::move(*next);
    waiting_.erase(next);
    active_.insert(job.board);
    lock.unlock();
    job.run();
    lock.lock();
    active_.erase(job.board);
    // Another thread may have left the board's next job alone.
    wake_.notify_one();
  }
}

}  // namespace ferry::farm
