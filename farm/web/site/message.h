// A request to the farm's HTTP interface and its response, apart from the connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ferry::farm::http {

struct HttpRequest {
  std::string method;
  std::string target;  // as sent: path and query
  // Headers by which something is decided; empty where there is none.
  std::string host;
  std::string authorization;
  std::string cookie;
  std::string origin;
  std::string fetch_site;  // Sec-Fetch-Site
  std::string content_type;
  std::string forwarded_for;  // the last X-Forwarded-For
  std::string body;
  std::string peer;  // numeric address of who has connected
};

// A response that goes on, as events of text/event-stream, while `is_allowed` returns true.
struct EventStream {
  std::function<bool()> is_allowed;
  std::shared_ptr<void> place;  // among the streams that may run at a time
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/html; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<EventStream> events;  // null: the body is all
};

}  // namespace ferry::farm::http
