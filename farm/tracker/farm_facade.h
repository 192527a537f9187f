// The farm as other threads see it: their queries are answered on the tracker's loop while they wait.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/key_directory.h"
#include "farm/tracker/query_service.h"

namespace ferry::farm {

class FarmFacade final : public Farm {
 public:
  // All must outlive this object. count() is called on the loop.
  FarmFacade(server::EventLoop& loop, const ActiveScheduler& scheduler, const KeyDirectory& keys, QueryService& queries,
             const Listings& listings, std::function<FarmNumbers()> count)
      : loop_(loop),
        scheduler_(scheduler),
        keys_(keys),
        queries_(queries),
        listings_(listings),
        count_(std::move(count)) {}

#define FERRY_ASK(tag, request, reply, name, directions) \
  Result<wire::reply> ask(const Caller& caller, const wire::request& query) override;
  FERRY_FARM_QUERIES(FERRY_ASK)
#undef FERRY_ASK
  Result<wire::DeviceListing> find_board(const Caller& caller, const std::string& name) override;
  Result<Caller> find_token(std::string_view token) override;
  Result<FarmNumbers> numbers() override;
  std::uint64_t change_count() const override;
  void set_change_listener(std::function<void()> listener) override;

  // On the loop.
  void has_changed();

 private:
  // Calls work(then) on the loop and returns what then() was called with.
  template <class T, class Work>
  Result<T> wait_for(Work work);

  server::EventLoop& loop_;
  const ActiveScheduler& scheduler_;
  const KeyDirectory& keys_;
  QueryService& queries_;
  const Listings& listings_;
  const std::function<FarmNumbers()> count_;
  mutable std::mutex mutex_;  // guards all that follows
  std::uint64_t changes_ = 1;
  std::function<void()> on_change_;
};

}  // namespace ferry::farm
