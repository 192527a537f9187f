// Sessions of people who have logged in with a token. They live in memory and end with the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "farm/web/site/rate_limit.h"

namespace ferry::farm::http {

// Limits of a session's life, of all sessions, and of those of one holder.
inline constexpr std::chrono::hours kSessionLife{12};
inline constexpr std::chrono::hours kSessionIdle{2};
inline constexpr std::size_t kSessions = 1024;
inline constexpr std::size_t kHolderSessions = 32;

// 64 hexadecimal digits of randomness.
std::string random_id();
// Compares in a time that does not depend on where the texts differ.
bool is_same_secret(const std::string& one, const std::string& other);

struct WebSession {
  std::string holder;
  std::string token;  // asked for again with each request, so that a revoked one ends the session
  std::string csrf;
  TimePoint begin;
  TimePoint last_use;
};

// Any thread.
class WebSessions {
 public:
  // Returns the id of the new session. Where there are too many, the one that was not used for longest ends.
  std::string add(const std::string& holder, const std::string& token, TimePoint now);
  // Returns the session with this id; nothing if there is none or it has expired. `is_use` says whether it counts as
  // used now.
  std::optional<WebSession> find(const std::string& id, TimePoint now, bool is_use = true);
  void remove(const std::string& id);
  std::size_t count();

 private:
  // Keys are hashes of the ids, so that finding one does not compare secrets.
  using Table = std::unordered_map<std::string, WebSession>;

  void drop_expired(TimePoint now);
  void drop_oldest(const std::function<bool(const WebSession&)>& is_meant);

  std::mutex mutex_;
  Table sessions_;
};

}  // namespace ferry::farm::http
