#include "farm/store/modules/module_thread.h"

#include "farm/store/open_connection.h"

namespace ferry::farm {

using Clock = std::chrono::steady_clock;

ModuleThread::ModuleThread(server::EventLoop& loop, std::string database, std::uint64_t quota,
                           std::chrono::milliseconds most_wait)
    : database_(std::move(database)), quota_(quota), most_wait_(most_wait), poster_(std::make_shared<Poster>(loop)) {}

ModuleThread::~ModuleThread() {
  poster_->is_alive = false;
  thread_.stop();
  thread_.join();
}

void ModuleThread::Poster::post(std::function<void()> call) {
  asio::post(loop.context(), [self = shared_from_this(), call = std::move(call)] {
    if (self->is_alive) call();
  });
}

void ModuleThread::run(std::function<void(const Status&)> job) {
  if (++waiting_ > kMaxWaiting) {
    --waiting_;
    return job(
        {ErrorCode::busy, format("%zu requests wait for the farm's modules already; try again later", kMaxWaiting)});
  }
  asio::post(thread_, [this, until = Clock::now() + most_wait_, job = std::move(job)] {
    job(Clock::now() < until ? open()
                             : Status(ErrorCode::busy, "the farm's database of modules is too slow; try again later"));
    --waiting_;
    if (store_) store_->delete_dropped();
  });
}

Status ModuleThread::open() {
  if (!store_) {
    FERRY_ASSIGN(auto connection, open_module_connection(database_));
    FERRY_ASSIGN(store_, ModuleStore::open(std::move(connection), quota_));
  }
  // It is tried again later if it fails.
  if (has_left_over_ && !store_->has_uploads()) has_left_over_ = !store_->delete_left_over().is_ok();
  return {};
}

void ModuleThread::forget(ModuleStore::Sender sender) {
  asio::post(thread_, [this, sender] {
    if (store_) store_->forget(sender);
  });
}

void ModuleThread::begin() {
  asio::post(thread_, [this] {
    if (store_) store_->drop_uploads();
    has_left_over_ = true;
  });
}

}  // namespace ferry::farm
