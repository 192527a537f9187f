// The JSON interface under /api/v1/, for programs. It knows tokens in the header Authorization and no cookies, so no
// page of elsewhere can use it in somebody's name.
#pragma once

#include "farm/api/farm.h"
#include "farm/web/pages/url.h"
#include "farm/web/site/message.h"
#include "farm/web/site/tokens.h"

namespace ferry::farm::http {

inline constexpr std::string_view kApiPrefix = "/api/v1/";

class Api {
 public:
  Api(Farm& farm, Tokens& tokens) : farm_(farm), tokens_(tokens) {}

  // `path` is what follows the prefix.
  HttpResponse handle(const HttpRequest& request, std::string_view path, const Parameters& query);

 private:
  Farm& farm_;
  Tokens& tokens_;
};

// The response to a request without a valid token.
HttpResponse token_failure(const Status& failure);

}  // namespace ferry::farm::http
