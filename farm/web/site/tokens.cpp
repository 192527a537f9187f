#include "farm/web/site/tokens.h"

#include <arpa/inet.h>

#include <algorithm>

#include "farm/protocol/queries.h"

namespace ferry::farm::http {
namespace {

constexpr std::string_view kScheme = "Bearer ";

// Finding a hash takes a time that says nothing about the tokens that are known.
Hash hash_of(const std::string& token) {
  return blake2b({reinterpret_cast<const std::uint8_t*>(token.data()), token.size()});
}

bool is_address(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 || inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_token(const std::string& text) {
  return !text.empty() && text.size() <= wire::kMaxText &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::string client_address(const HttpRequest& request, bool behind_proxy) {
  if (!behind_proxy) return request.peer;
  std::string last = request.forwarded_for.substr(request.forwarded_for.rfind(',') + 1);
  last.erase(0, last.find_first_not_of(" \t"));
  last.erase(last.find_last_not_of(" \t") + 1);
  return is_address(last) ? last : request.peer;
}

Tokens::Tokens(Farm& farm, const HttpOptions& options)
    : farm_(farm), options_(options), logins_(options.login_by_address), bearers_(options.bearer_by_address) {}

Result<Caller> Tokens::check(RateLimit& limit, const HttpRequest& request, const std::string& token) {
  // First, because those who know no token may have the address of those who do.
  Status failure(ErrorCode::unauthenticated, "");
  if (is_token(token)) {
    const Result<Caller> caller = farm_.find_token(token);
    failure = caller.status();
    if (failure.is_ok()) return caller.value();
  }
  if (failure.code() != ErrorCode::unauthenticated) return failure;
  const std::string address = rate_key(client_address(request, options_.behind_proxy));
  const TimePoint now = options_.now();
  if (!limit.has_try(address, now)) return Status(ErrorCode::busy, "too many wrong tokens; try again later");
  limit.take(address, now);
  return Status(ErrorCode::unauthenticated, "the token is unknown or revoked");
}

Result<Caller> Tokens::of_login(const HttpRequest& request, const std::string& token) {
  return check(logins_, request, token);
}

Result<Caller> Tokens::of_bearer(const HttpRequest& request) {
  if (!request.authorization.starts_with(kScheme)) {
    return Status(ErrorCode::unauthenticated, "expected a header 'Authorization: Bearer TOKEN'");
  }
  const std::string token = request.authorization.substr(kScheme.size());
  Result<Caller> caller = check(bearers_, request, token);
  const std::lock_guard lock(mutex_);
  if (!caller.is_ok()) {
    if (caller.status().code() == ErrorCode::unauthenticated) right_.erase(hash_of(token));
    return caller;
  }
  if (right_.size() >= kRemembered) right_.erase(right_.begin());
  right_.insert(hash_of(token));
  return caller;
}

bool Tokens::is_known(const std::string& authorization) {
  if (!authorization.starts_with(kScheme)) return false;
  const Hash hash = hash_of(authorization.substr(kScheme.size()));
  const std::lock_guard lock(mutex_);
  return right_.contains(hash);
}

}  // namespace ferry::farm::http
