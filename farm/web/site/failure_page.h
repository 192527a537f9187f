// A failure as a page.
#pragma once

#include "farm/web/pages/plain_pages.h"
#include "farm/web/site/errors.h"

namespace ferry::farm::http {

inline HttpResponse failure_page(int status, const Viewer& viewer, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.body = write_message_page(viewer, title_of(status), text);
  return response;
}

inline HttpResponse failure_page(const Status& failure, const Viewer& viewer) {
  return failure_page(status_of(failure.code()), viewer, failure.message());
}

}  // namespace ferry::farm::http
