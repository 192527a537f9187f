// The database of modules has a thread and a connection of its own, so that leases never wait for it.
#pragma once

#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/format.h"
#include "farm/store/modules/module_store.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class ModuleThread {
 public:
  // Requests that may wait, each with at most one piece of an object.
  static constexpr std::size_t kMaxWaiting = 512;
  // Clients give up soon after.
  static constexpr std::chrono::seconds kMostWait{15};

  // `database` is a path or a URI of PostgreSQL; it is opened when it is needed. A request whose turn comes after
  // `most_wait` is refused instead. The loop must outlive this object, and no callback is called after its end.
  ModuleThread(server::EventLoop& loop, std::string database, std::uint64_t quota,
               std::chrono::milliseconds most_wait = kMostWait);
  // Waits for the request that is being answered, and drops those that wait.
  ~ModuleThread();
  ModuleThread(const ModuleThread&) = delete;
  ModuleThread& operator=(const ModuleThread&) = delete;

  // Answers the request, then calls then(the answer) on the loop. Fails with busy if too many wait, or for too long.
  template <class Request, class Then>
  void ask(ModuleStore::Sender sender, Request request, Then then) {
    using Answer = decltype(std::declval<ModuleStore&>().answer(sender, request));
    run([this, poster = poster_, sender, request = std::move(request), then = std::move(then)](const Status& ready) {
      auto answer = std::make_shared<Answer>(ready.is_ok() ? store_->answer(sender, request) : Answer(ready));
      poster->post([then, answer] { then(*answer); });
    });
  }
  // Drops what the sender has not finished.
  void forget(ModuleStore::Sender sender);
  // This tracker schedules now: drops what the one before has not finished.
  void begin();

 private:
  struct Poster : std::enable_shared_from_this<Poster> {
    explicit Poster(server::EventLoop& event_loop) : loop(event_loop) {}
    void post(std::function<void()> call);
    server::EventLoop& loop;
    bool is_alive = true;  // used on the loop alone
  };

  // Calls job(whether the database is open) on the thread; or job(busy), at once if too many wait.
  void run(std::function<void(const Status& ready)> job);
  Status open();

  const std::string database_;
  const std::uint64_t quota_;
  const std::chrono::milliseconds most_wait_;
  std::shared_ptr<Poster> poster_;
  std::atomic<std::size_t> waiting_ = 0;
  // Used on the thread alone.
  std::unique_ptr<ModuleStore> store_;
  bool has_left_over_ = false;   // to be deleted
  asio::thread_pool thread_{1};  // ends first
};

}  // namespace ferry::farm
