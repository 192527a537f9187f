// How the farm's HTTP interface is served.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "farm/web/site/rate_limit.h"

namespace ferry::farm::http {

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  // 0: any free one
  // A reverse proxy with TLS stands in front: addresses that other machines reach are allowed, cookies are only sent
  // over TLS, and the address of a client is the last one in X-Forwarded-For.
  bool behind_proxy = false;

  std::size_t streams = 64;                            // how many run at a time
  std::size_t threads = 48;                            // for requests; streams need none
  std::chrono::milliseconds request_deadline{5000};    // for all of a request to arrive
  std::chrono::milliseconds response_deadline{15000};  // for a response, or a stream's event, to be taken

  // Failed logins of an address, and failed requests of an address with tokens.
  TryRate login_by_address{5, 0.1};
  TryRate bearer_by_address{20, 1};

  std::function<TimePoint()> now = [] { return std::chrono::steady_clock::now(); };
};

}  // namespace ferry::farm::http
