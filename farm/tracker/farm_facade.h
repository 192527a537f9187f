// The farm as other threads see it: their queries are answered on the tracker's loop while they wait.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "farm/tracker/core.h"

namespace ferry::farm {

class FarmFacade final : public Farm {
 public:
  explicit FarmFacade(Core& core) : core_(core) {}

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
  FarmNumbers count() const;

  Core& core_;
  mutable std::mutex mutex_;  // guards all that follows
  std::uint64_t changes_ = 1;
  std::function<void()> on_change_;
};

}  // namespace ferry::farm
