// A response as it is sent.
#pragma once

#include <string>

#include "farm/web/site/message.h"

namespace ferry::farm::http {

// The response to a request with this method. The text of an event stream is its head, which events follow until the
// connection is closed.
std::string response_text(const HttpResponse& response, const std::string& method);

}  // namespace ferry::farm::http
