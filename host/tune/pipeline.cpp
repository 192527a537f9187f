#include "host/tune/pipeline.h"

#include <chrono>

namespace ferry::tune {

namespace {

// Built points that wait for each device.
constexpr std::size_t kReadyPerRunner = 2;
// How long a runner with room for more works before it is given what has become ready meanwhile.
constexpr std::chrono::milliseconds kLookForReady{2}, kLookForEnd{100};

}  // namespace

Pipeline::~Pipeline() { pause(); }

void Pipeline::start(Builder& builder) {
  builder_ = &builder;
  must_end_ = false;
  for (unsigned b = 0; b < parts_.builders; ++b) threads_.emplace_back([this] { build_points(); });
  for (std::size_t r = 0; r < parts_.runners.size(); ++r)
    if (!gone_.contains(r)) threads_.emplace_back([this, r] { run_points(r); });
}

void Pipeline::pause() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Pipeline::add_result(Tried tried) {
  done_.push_back(std::move(tried));
  changed_.notify_all();
}

BuildResult Pipeline::build(const SpacePoint& point) const {
  try {
    return builder_->build(values_in_order(point));
  } catch (const std::exception& error) {
    return Failure{Outcome::crashed, error.what()};
  }
}

void Pipeline::build_points() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_room = [&] { return ready_.size() + building_ < kReadyPerRunner * parts_.runners.size() + 1; };
    changed_.wait(lock, [&] { return must_end_ || (has_room() && !has_no_next_); });
    if (must_end_) return;
    std::optional<SpacePoint> point;
    try {
      point = parts_.next();
    } catch (...) {
      error_ = std::current_exception();
      alive_ = 0;
      must_end_ = true;
    }
    has_no_next_ = !point;
    if (!point) {
      changed_.notify_all();
      continue;
    }
    ++building_;
    lock.unlock();
    BuildResult built = build(*point);
    Tried tried{.point = *std::move(point), .trial = {}, .device = {}};
    if (auto* module = std::get_if<ModuleBytes>(&built)) {
      tried.code = parts_.identity(*module);
      tried.module = std::make_shared<const ModuleBytes>(std::move(*module));
    } else {
      const Failure& failure = std::get<Failure>(built);
      tried.trial = {failure.outcome, failure.reason};
    }
    lock.lock();
    --building_;
    if (tried.module == nullptr) {
      add_result(std::move(tried));
    } else if (const auto known = by_code_.find(tried.code); known != by_code_.end()) {
      tried.trial = known->second;
      add_result(std::move(tried));
    } else {
      ready_.push_back(std::move(tried));
      changed_.notify_all();
    }
  }
}

void Pipeline::lose(std::size_t number, std::exception_ptr error) {
  error_ = std::move(error);
  --alive_;
  gone_.insert(number);
  changed_.notify_all();
}

// The lock is held.
void Pipeline::submit_ready(Runner& runner, AtHand& at_hand) {
  while (!ready_.empty() && runner.has_room() && goes_on()) {
    Tried tried = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    if (const auto known = by_code_.find(tried.code); known != by_code_.end()) {
      tried.trial = known->second;
      add_result(std::move(tried));
      continue;
    }
    running_point_ = tried.point.text;
    ++running_;
    const std::uint64_t number = ++submitted_;
    runner.submit(number, tried.module);
    at_hand.emplace(number, std::move(tried));
  }
}

void Pipeline::run_points(std::size_t number) {
  Runner& runner = *parts_.runners[number];
  try {
    runner.begin();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    return lose(number, std::current_exception());
  }
  AtHand at_hand;
  std::unique_lock lock(mutex_);
  while (true) {
    submit_ready(runner, at_hand);
    if (at_hand.empty()) {
      if (!goes_on()) return;
      changed_.wait(lock, [&] { return !ready_.empty() || !goes_on(); });
      continue;
    }
    const double best = best_seconds_;
    const std::chrono::milliseconds most = runner.has_room() ? kLookForReady : kLookForEnd;
    lock.unlock();
    std::optional<EndedTrial> ended;
    std::exception_ptr error;
    try {
      ended = runner.wait(best, most);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      // Another device may try them.
      running_ -= static_cast<unsigned>(at_hand.size());
      for (auto tried = at_hand.rbegin(); tried != at_hand.rend(); ++tried) ready_.push_front(std::move(tried->second));
      return lose(number, error);
    }
    if (!ended) continue;
    --running_;
    Tried tried = std::move(at_hand.extract(ended->number).mapped());
    tried.trial = std::move(ended->trial);
    tried.device = runner.device();
    tried.environment = runner.environment();
    by_code_.insert_or_assign(tried.code, tried.trial);
    add_result(std::move(tried));
  }
}

std::optional<Tried> Pipeline::wait(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !done_.empty() || alive_ == 0; });
  if (std::optional<Tried> tried = take_done()) return tried;
  if (alive_ == 0) std::rethrow_exception(error_);
  return std::nullopt;
}

std::optional<Tried> Pipeline::left() {
  const std::lock_guard lock(mutex_);
  return take_done();
}

std::optional<Tried> Pipeline::take_done() {
  if (done_.empty()) return std::nullopt;
  Tried tried = std::move(done_.front());
  done_.pop_front();
  // What came of it may lead to other points.
  has_no_next_ = false;
  changed_.notify_all();
  return tried;
}

void Pipeline::set_best(double seconds) {
  const std::lock_guard lock(mutex_);
  best_seconds_ = seconds;
}

void Pipeline::try_again() {
  const std::lock_guard lock(mutex_);
  has_no_next_ = false;
  changed_.notify_all();
}

std::string Pipeline::running() {
  const std::lock_guard lock(mutex_);
  return running_ > 0 ? running_point_ : "";
}

bool Pipeline::is_exhausted() {
  const std::lock_guard lock(mutex_);
  return has_no_next_ && building_ == 0 && running_ == 0 && ready_.empty() && done_.empty();
}

void Pipeline::with_lock(const std::function<void()>& work) {
  const std::lock_guard lock(mutex_);
  work();
}

}  // namespace ferry::tune
