// Finds out whose the token of a request is, with limits for those who guess.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "farm/api/farm.h"
#include "farm/web/site/message.h"
#include "farm/web/site/options.h"
#include "ferry/hash.h"

namespace ferry::farm::http {

class Tokens {
 public:
  Tokens(Farm& farm, const HttpOptions& options);

  // Both fail with unauthenticated for a token that is none, and with busy after too many of these.
  Result<Caller> of_login(const HttpRequest& request, const std::string& token);
  Result<Caller> of_bearer(const HttpRequest& request);
  // Whether the token of this header was right the last time that somebody came with it, as far as is remembered.
  bool is_known(const std::string& authorization);
  // For a token that was right before.
  Result<Caller> again(const std::string& token) { return farm_.find_token(token); }

 private:
  static constexpr std::size_t kRemembered = 4096;

  Result<Caller> check(RateLimit& limit, const HttpRequest& request, const std::string& token);

  Farm& farm_;
  const HttpOptions& options_;
  RateLimit logins_;
  RateLimit bearers_;
  std::mutex mutex_;  // guards the next member
  std::set<Hash> right_;
};

// The address of the client: the one that the proxy names, where there is a proxy.
std::string client_address(const HttpRequest& request, bool behind_proxy);

}  // namespace ferry::farm::http
