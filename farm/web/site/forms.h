// Whether a request that changes something comes from one of our own pages.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "farm/web/pages/url.h"
#include "farm/web/site/message.h"

namespace ferry::farm::http {

// Returns the value of a cookie; empty if there is none. Of several the first one counts.
std::string cookie_value(const HttpRequest& request, std::string_view name);

// Returns the fields of a form. Fails with unauthenticated if Origin or Sec-Fetch-Site say that it is from elsewhere,
// and with invalid_argument if the body is no form.
Result<Parameters> parse_form(const HttpRequest& request, bool behind_proxy);

// Whether Host names this machine by a loopback address or "localhost". A name from elsewhere that resolves to a
// loopback address (DNS rebinding) does not.
bool is_loopback_host(std::string_view host);

}  // namespace ferry::farm::http
