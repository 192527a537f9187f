#include "farm/probe/probe_runner.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "ferry/error.h"
#include "host/client/connect/ssh_process.h"
#include "host/client/connect/ssh_script.h"

namespace ferry::farm {
namespace {

constexpr std::size_t kMaxAnswers = 256;
constexpr std::chrono::seconds kHurry{1};

}  // namespace

ProbeRunner::ProbeRunner(ProbeOptions options, OnReport on_report)
    : options_(options), on_report_(std::move(on_report)), cancelled_(eventfd(0, EFD_CLOEXEC)) {}

ProbeRunner::~ProbeRunner() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  eventfd_write(cancelled_.number(), 1);
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ProbeRunner::watch(BoardId board, const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    Watched& watched = boards_[board];
    watched.address = address;
    watched.next = std::chrono::steady_clock::now();
    if (workers_.size() < std::min(boards_.size(), options_.at_once)) workers_.emplace_back([this] { work(); });
  }
  wake_.notify_one();
}

void ProbeRunner::hurry(BoardId board, const KnownLocks& locks) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = boards_.find(board);
    if (found == boards_.end()) return;
    Watched& watched = found->second;
    watched.locks.epoch = locks.epoch;
    watched.locks.forged.insert(watched.locks.forged.end(), locks.forged.begin(), locks.forged.end());
    if (watched.locks.forged.size() > session::kMaxSshLocks) watched.locks.forged.resize(session::kMaxSshLocks);
    watched.next = std::min(watched.next, watched.begin + kHurry);
  }
  wake_.notify_one();
}

void ProbeRunner::forget(BoardId board) {
  const std::lock_guard lock(mutex_);
  boards_.erase(board);
}

void ProbeRunner::work() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    auto due = boards_.end();
    for (auto one = boards_.begin(); one != boards_.end(); ++one)
      if (!one->second.is_running && (due == boards_.end() || one->second.next < due->second.next)) due = one;
    if (due == boards_.end()) {
      wake_.wait(lock);
      continue;
    }
    const SteadyTime now = std::chrono::steady_clock::now();
    if (due->second.next > now) {
      wake_.wait_until(lock, SteadyTime(due->second.next));
      continue;
    }
    due->second.is_running = true;
    due->second.begin = now;
    due->second.next = now + options_.period;
    const BoardId board = due->first;
    const std::string address = due->second.address;
    KnownLocks locks = due->second.locks;
    due->second.locks.forged.clear();
    lock.unlock();
    Result<BoardReport> report = probe(address, locks);
    lock.lock();
    if (const auto watched = boards_.find(board); watched != boards_.end()) {
      Watched& one = watched->second;
      one.is_running = false;
      // What could not be removed now may be removed by the next one.
      if (!report.is_ok() && one.locks.forged.empty()) one.locks.forged = std::move(locks.forged);
    }
    if (is_stopping_) return;
    lock.unlock();
    on_report_(board, address, std::move(report));
    lock.lock();
  }
}

Result<BoardReport> ProbeRunner::probe(const std::string& address, const KnownLocks& locks) const {
  try {
    session::SshProcess ssh(session::parse_ssh_address(address), address,
                            session::probe_script(std::min(locks.epoch, session::kMaxSshEpoch), locks.forged),
                            {true, options_.timeout, cancelled_.number()});
    std::vector<std::string> answers;
    while (answers.size() < kMaxAnswers) {
      std::string answer = ssh.answer(session::kSshMarker);
      if (answer == "end ") return read_report(answers);
      answers.push_back(std::move(answer));
    }
    return Status(ErrorCode::protocol_error,
                  address + ": expected at most " + std::to_string(kMaxAnswers) + " facts about the board, got more");
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

}  // namespace ferry::farm
