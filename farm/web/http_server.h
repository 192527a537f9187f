// Serves the farm's page, its HTTP interface and its metrics. Every connection has one request, which gets a thread
// once it has arrived and nothing is wrong with its head.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "farm/api/farm.h"
#include "farm/web/site/options.h"

namespace ferry::farm::http {

class HttpServer {
 public:
  // Fails with invalid_argument if other machines could reach the address and there is no proxy that encrypts.
  static Result<std::unique_ptr<HttpServer>> start(Farm& farm, HttpOptions options);

  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;
  // "http://127.0.0.1:8080/"
  virtual std::string url() const = 0;
  // Ends all connections, streams too, and returns soon. The destructor does the same.
  virtual void stop() = 0;
};

}  // namespace ferry::farm::http
