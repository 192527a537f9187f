// The database's thread as the tracker's loop sees it: every answer arrives on the loop.
#pragma once

#include <asio/post.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "farm/store/database_thread.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class Database {
 public:
  using OnOutcome = std::function<void(TrackerTerm term, const Result<CommitOutcome>& outcome)>;

  // No callback is called after this object's end; the loop must outlive it.
  Database(server::EventLoop& loop, std::unique_ptr<Store> store, OnOutcome on_outcome)
      : poster_(std::make_shared<Poster>(loop)),
        thread_(std::in_place, std::move(store),
                [poster = poster_, on_outcome = std::move(on_outcome)](TrackerTerm term,
                                                                       const Result<CommitOutcome>& outcome) {
                  poster->post([=] { on_outcome(term, outcome); });
                }) {}
  ~Database() { close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Ends the thread once it has done what was asked until now, and closes the store. Nothing is called back, and
  // nothing may be asked, from here on.
  void close() {
    poster_->is_alive = false;
    thread_.reset();
  }

  Status commit(Persist commit) { return thread_->commit(std::move(commit)); }
  // Whether so many commits wait that those who make them must hold back. A full queue would end the tracker's turn.
  bool is_congested() const { return thread_->backlog() >= DatabaseThread::kMaxCommits / 4; }

  // Calls job(store) on the database's thread, then then(its result) on the loop. A full queue is the result as well.
  template <class Job, class Then>
  void ask(Job job, Then then) {
    using Answer = std::invoke_result_t<Job, Store&>;
    const auto give = [poster = poster_, then](Answer answer) {
      poster->post([then, kept = std::make_shared<Answer>(std::move(answer))] { then(*kept); });
    };
    const Status accepted = thread_->run([give, job = std::move(job)](Store& store) { give(job(store)); });
    if (!accepted.is_ok()) give(accepted);
  }

 private:
  struct Poster : std::enable_shared_from_this<Poster> {
    explicit Poster(server::EventLoop& event_loop) : loop(event_loop) {}
    void post(std::function<void()> call) {
      asio::post(loop.context(), [self = shared_from_this(), call = std::move(call)] {
        if (self->is_alive) call();
      });
    }
    server::EventLoop& loop;
    bool is_alive = true;  // used on the loop alone
  };

  std::shared_ptr<Poster> poster_;
  std::optional<DatabaseThread> thread_;
};

}  // namespace ferry::farm
