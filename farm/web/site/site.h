// Everything that the farm's HTTP interface serves, as a function from requests to responses: pages for people, JSON
// for programs, metrics and health for monitoring.
//
// /healthz answers anybody: 200 while the tracker answers and its database can be written, else 503. /metrics wants a
// token, or a client on this machine without a proxy in between.
#pragma once

#include "farm/web/site/api.h"
#include "farm/web/site/web.h"

namespace ferry::farm::http {

class Site {
 public:
  Site(Farm& farm, HttpOptions options);

  // Any thread.
  HttpResponse handle(const HttpRequest& request);
  // The response to a request that cannot be read.
  static HttpResponse refusal(int status, const char* reason);
  // Whether a request with these headers comes from somebody who has shown a token lately, or has logged in. Any
  // thread.
  bool is_known(const std::string& authorization, const std::string& cookie);

  Farm& farm() { return farm_; }
  const HttpOptions& options() const { return options_; }

 private:
  HttpResponse route(const HttpRequest& request);
  HttpResponse show_health();
  HttpResponse show_metrics(const HttpRequest& request);

  Farm& farm_;
  const HttpOptions options_;
  Tokens tokens_;
  Api api_;
  Web web_;
};

}  // namespace ferry::farm::http
