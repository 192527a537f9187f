// Reads one request as its bytes arrive: exact syntax, limits of all sizes, and no features that we do not serve.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "farm/web/site/message.h"

namespace ferry::farm::http {

// Limits in bytes.
inline constexpr std::size_t kMaxHead = 16384;
inline constexpr std::size_t kMaxTarget = 4096;
inline constexpr std::size_t kMaxPath = 512;
inline constexpr std::size_t kMaxHeaderLine = 4096;
inline constexpr std::size_t kMaxHeaders = 64;
inline constexpr std::size_t kMaxRequestBody = 32768;

class RequestParser {
 public:
  enum class State { head, body, whole, refused };

  // Takes the next bytes of a connection. Bytes that follow the request are ignored.
  State add(std::string_view bytes);
  State state() const { return state_; }
  // The client waits for a response 100 before it sends the body.
  bool expects_continue() const { return state_ == State::body && expects_continue_; }
  // All but its peer, once it is whole.
  HttpRequest& request() { return request_; }

  // The response to a request that is refused, and why it is.
  int status() const { return status_; }
  const char* reason() const { return reason_; }
  State refuse(int status, const char* reason);

 private:
  State parse_head(std::string_view head);
  State parse_request_line(std::string_view line);
  State parse_headers(std::string_view lines, bool is_http_1_1);

  State state_ = State::head;
  std::string head_;  // what has arrived of it
  HttpRequest request_;
  std::size_t body_bytes_ = 0;
  bool expects_continue_ = false;
  int status_ = 0;
  const char* reason_ = "";
};

}  // namespace ferry::farm::http
