// A farm that is nothing but lists, for tests of what stands in front of farms.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "farm/api/farm.h"

namespace ferry::test {

// Names with which somebody might try to write HTML, to leave quotes, to control a terminal or to reverse text.
const std::vector<std::string>& hostile_names();

class ScriptedFarm final : public farm::Farm {
 public:
  static constexpr const char* kViewer = "token-of-a-viewer";
  static constexpr const char* kUser = "token-of-a-user";
  static constexpr const char* kAdmin = "token-of-an-admin";

  // Knows the three tokens, of holders "vera", "uwe" and "ada".
  ScriptedFarm();

  // Adds boards in all states, leases, a queue, history, health checks and crash reports, with hostile names among
  // them.
  void add_sample();
  void add_board(const farm::wire::DeviceListing& board);
  void revoke_token(const std::string& token);
  // All that is asked fails with unavailable from now on, or succeeds again.
  void set_available(bool is_available);
  void set_numbers(const farm::FarmNumbers& numbers);
  // Calls of find_token() wait from now on, or go on again.
  void set_blocked(bool is_blocked);
  // Something changes.
  void touch();
  farm::wire::DeviceListing board(const std::string& name);
  std::vector<farm::wire::AuditListing> audit();
  // Number of calls of find_token() so far.
  int token_lookups() const { return token_lookups_; }

#define FERRY_ASK(tag, request, reply, name, directions) \
  Result<farm::wire::reply> ask(const farm::Caller& caller, const farm::wire::request& query) override;
  FERRY_FARM_QUERIES(FERRY_ASK)
#undef FERRY_ASK
  Result<farm::wire::DeviceListing> find_board(const farm::Caller& caller, const std::string& name) override;
  Result<farm::Caller> find_token(std::string_view token) override;
  Result<farm::FarmNumbers> numbers() override;
  std::uint64_t change_count() const override;
  void set_change_listener(std::function<void()> listener) override;

 private:
  Status check(const farm::Caller& caller, farm::wire::Role least) const;
  void note(const farm::Caller& caller, const std::string& action, const std::string& board, const std::string& text);
  void change();

  mutable std::mutex mutex_;
  std::uint64_t count_ = 1;
  std::function<void()> on_change_;
  bool is_available_ = true;
  std::atomic<int> token_lookups_ = 0;
  std::atomic<bool> is_blocked_ = false;
  farm::FarmNumbers numbers_;
  std::map<std::string, farm::Caller, std::less<>> tokens_;
  std::map<std::string, farm::wire::DeviceListing> boards_;
  std::map<std::uint64_t, farm::wire::LeaseListing> leases_;
  std::vector<farm::wire::QueueListing> queue_;
  std::vector<farm::wire::HistoryListing> history_;  // newest first
  std::vector<farm::wire::AuditListing> audit_;      // oldest first
  std::map<std::string, std::vector<farm::wire::HealthListing>> health_;
  std::map<std::string, std::vector<farm::wire::SessionListing>> sessions_;
  std::vector<farm::wire::CredentialListing> credentials_;
};

}  // namespace ferry::test
