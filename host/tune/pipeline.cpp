#include "host/tune/pipeline.h"

#include <chrono>

namespace ferry::tune {

namespace {

// Built points that wait for each device.
constexpr std::size_t kReadyPerRunner = 2;

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

void Pipeline::run_points(std::size_t number) {
  Runner& runner = *parts_.runners[number];
  try {
    runner.begin();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    return lose(number, std::current_exception());
  }
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return must_end_ || !ready_.empty(); });
    if (must_end_) return;
    Tried tried = std::move(ready_.front());
    ready_.pop_front();
    ++running_;
    running_point_ = tried.point.text;
    changed_.notify_all();
    const double best = best_seconds_;
    lock.unlock();
    std::exception_ptr error;
    try {
      tried.trial = runner.run(*tried.module, best);
      tried.device = runner.device();
      tried.environment = runner.environment();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --running_;
    if (error) {
      // Another device may try it.
      ready_.push_front(std::move(tried));
      return lose(number, error);
    }
    by_code_.insert_or_assign(tried.code, tried.trial);
    add_result(std::move(tried));
  }
}

std::optional<Tried> Pipeline::wait(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !done_.empty() || alive_ == 0; });
  if (!done_.empty()) {
    Tried tried = std::move(done_.front());
    done_.pop_front();
    // What came of it may lead to other points.
    has_no_next_ = false;
    changed_.notify_all();
    return tried;
  }
  if (alive_ == 0) std::rethrow_exception(error_);
  return std::nullopt;
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
