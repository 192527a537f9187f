#include "farm/web/site/errors.h"

#include <nlohmann/json.hpp>

namespace ferry::farm::http {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::ok: return 200;
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::unauthenticated: return 403;
    case ErrorCode::not_found: return 404;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::resource_exhausted:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::busy:
    case ErrorCode::unavailable:
    case ErrorCode::aborted: return 503;
    case ErrorCode::version_mismatch:
    case ErrorCode::kernel_crashed:
    case ErrorCode::device_error:
    case ErrorCode::protocol_error:
    case ErrorCode::internal: return 500;
  }
  return 500;
}

const char* title_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 303: return "See other";
    case 400: return "Bad request";
    case 401: return "Not logged in";
    case 403: return "Not allowed";
    case 404: return "Not found";
    case 405: return "Method not allowed";
    case 408: return "Request too slow";
    case 411: return "Length required";
    case 413: return "Request too large";
    case 414: return "Target too long";
    case 415: return "Unsupported type of content";
    case 417: return "Expectation not met";
    case 421: return "Wrong host";
    case 429: return "Too many requests";
    case 431: return "Headers too large";
    case 501: return "Not supported";
    case 503: return "Not available at the moment";
    case 505: return "Version not supported";
    default: return "Error of the tracker";
  }
}

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

HttpResponse json_failure(int status, std::string_view code, std::string_view message) {
  using Json = nlohmann::ordered_json;
  const Json json = {{"error", {{"code", code}, {"message", message}}}};
  HttpResponse response = json_response(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  response.status = status;
  if (status == 503 || status == 429) response.headers.emplace_back("Retry-After", "10");
  return response;
}

HttpResponse json_failure(const Status& failure) {
  return json_failure(status_of(failure.code()), error_name(failure.code()), failure.message());
}

HttpResponse text_response(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

HttpResponse wrong_method(const char* allowed) {
  HttpResponse response = text_response(405, std::string("expected the method ") + allowed + "\n");
  response.headers.emplace_back("Allow", allowed);
  return response;
}

HttpResponse redirect(const std::string& path) {
  HttpResponse response;
  response.status = 303;
  response.headers.emplace_back("Location", path);
  return response;
}

}  // namespace ferry::farm::http
