#include "farm/web/exchange.h"

#include "base/format.h"
#include "farm/web/request_head.h"
#include "farm/web/site/errors.h"
#include "farm/web/site/event_feed.h"

namespace ferry::farm::http {
namespace {

HttpRequest request_of(const httplib::Request& from) {
  HttpRequest request;
  request.method = from.method;
  request.target = from.target;
  request.host = from.get_header_value("Host");
  request.authorization = from.get_header_value("Authorization");
  request.cookie = from.get_header_value("Cookie");
  request.origin = from.get_header_value("Origin");
  request.fetch_site = from.get_header_value("Sec-Fetch-Site");
  request.content_type = from.get_header_value("Content-Type");
  if (const std::size_t count = from.get_header_value_count("X-Forwarded-For"); count > 0) {
    request.forwarded_for = from.get_header_value("X-Forwarded-For", count - 1);
  }
  request.body = from.body;
  request.peer = from.remote_addr;
  return request;
}

}  // namespace

Exchange::Exchange(Site& site) : site_(site) {
  // The library asks this descriptor, of a listener of its own, whether it is to stop. We listen ourselves.
  svr_sock_ = 0;
  set_payload_max_length(kMaxRequestBody);
  set_keep_alive_max_count(1);
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    // The body of these is read first.
    if (request.method == "POST") return HandlerResponse::Unhandled;
    answer(request, response);
    return HandlerResponse::Handled;
  });
  Post(R"([\s\S]*)",
       [this](const httplib::Request& request, httplib::Response& response) { answer(request, response); });
  set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
    response.status = 500;
    response.set_content("error of the tracker\n", "text/plain; charset=utf-8");
  });
  httplib::Headers headers(security_headers().begin(), security_headers().end());
  headers.emplace("Cache-Control", "no-store");
  set_default_headers(std::move(headers));
}

void Exchange::run(httplib::Stream& stream) {
  bool is_closed = false;
  process_request(stream, true, is_closed, nullptr);
}

void Exchange::answer(const httplib::Request& request, httplib::Response& response) {
  HttpResponse made = site_.handle(request_of(request));
  response.status = made.status;
  response.headers.clear();
  for (const auto& [name, value] : made.headers) response.headers.emplace(name, value);
  if (made.events != nullptr && request.method != "HEAD") return stream_events(std::move(made.events), response);
  if (made.status != 303) response.set_content(made.body, made.content_type);
}

void Exchange::stream_events(std::shared_ptr<EventStream> events, httplib::Response& response) {
  auto feed = std::make_shared<EventFeed>(site_.farm(), std::move(events));
  response.set_content_provider("text/event-stream", [feed](std::size_t, httplib::DataSink& sink) {
    if (!sink.is_writable()) return false;
    const std::string text = feed->next();
    if (!text.empty() && !sink.write(text.data(), text.size())) return false;
    if (feed->is_over()) sink.done();
    return true;
  });
}

std::string Exchange::refusal(int status, const char* reason) {
  const std::string body = std::string(reason) + "\n";
  std::string text = format(
      "HTTP/1.1 %d Refused\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\n",
      status, body.size());
  for (const auto& [name, value] : security_headers()) text += name + ": " + value + "\r\n";
  return text + "\r\n" + body;
}

}  // namespace ferry::farm::http
