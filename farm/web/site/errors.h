// Failures of the farm as responses.
#pragma once

#include "base/status.h"
#include "farm/web/site/message.h"

namespace ferry::farm::http {

// The status of a response for a failure of Farm::ask(), where the caller is known.
int status_of(ErrorCode code);
const char* title_of(int status);

HttpResponse json_response(std::string body);
HttpResponse json_failure(int status, std::string_view code, std::string_view message);
HttpResponse json_failure(const Status& failure);
HttpResponse text_response(int status, std::string body);
// For a path that exists, but not with this method.
HttpResponse wrong_method(const char* allowed);
HttpResponse redirect(const std::string& path);

}  // namespace ferry::farm::http
