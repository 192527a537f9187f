#include "farm/web/site/web_sessions.h"

#include <algorithm>

#include "ferry/hash.h"
#include "rpc/secure/noise.h"

namespace ferry::farm::http {
namespace {

std::string key_of(const std::string& id) {
  const Hash hash = blake2b({reinterpret_cast<const std::uint8_t*>(id.data()), id.size()});
  return {hash.begin(), hash.end()};
}

bool has_expired(const WebSession& session, TimePoint now) {
  return now - session.begin > kSessionLife || now - session.last_use > kSessionIdle;
}

}  // namespace

std::string random_id() {
  Hash bytes{};
  secure::fill_with_random(bytes);
  return to_hex(bytes);
}

bool is_same_secret(const std::string& one, const std::string& other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  return difference == 0;
}

void WebSessions::drop_expired(TimePoint now) {
  std::erase_if(sessions_, [&](const auto& entry) { return has_expired(entry.second, now); });
}

void WebSessions::drop_oldest(const std::function<bool(const WebSession&)>& is_meant) {
  auto oldest = sessions_.end();
  for (auto entry = sessions_.begin(); entry != sessions_.end(); ++entry) {
    if (!is_meant(entry->second)) continue;
    if (oldest == sessions_.end() || entry->second.last_use < oldest->second.last_use) oldest = entry;
  }
  if (oldest != sessions_.end()) sessions_.erase(oldest);
}

std::string WebSessions::add(const std::string& holder, const std::string& token, TimePoint now) {
  const std::string id = random_id();
  const std::lock_guard lock(mutex_);
  drop_expired(now);
  const auto is_own = [&](const WebSession& session) { return session.holder == holder; };
  const auto own = std::count_if(sessions_.begin(), sessions_.end(), [&](auto& entry) { return is_own(entry.second); });
  if (static_cast<std::size_t>(own) >= kHolderSessions) drop_oldest(is_own);
  if (sessions_.size() >= kSessions) drop_oldest([](const WebSession&) { return true; });
  sessions_[key_of(id)] = {holder, token, random_id(), now, now};
  return id;
}

std::optional<WebSession> WebSessions::find(const std::string& id, TimePoint now, bool is_use) {
  const std::string key = key_of(id);
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) return std::nullopt;
  if (has_expired(found->second, now)) {
    sessions_.erase(found);
    return std::nullopt;
  }
  if (is_use) found->second.last_use = now;
  return found->second;
}

void WebSessions::remove(const std::string& id) {
  const std::string key = key_of(id);
  const std::lock_guard lock(mutex_);
  sessions_.erase(key);
}

std::size_t WebSessions::count() {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

}  // namespace ferry::farm::http
