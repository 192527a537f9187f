// Checks the head of a request before the library sees it: exact syntax, limits of all sizes, and no features that we
// do not serve.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ferry::farm::http {

// Limits in bytes.
inline constexpr std::size_t kMaxHead = 16384;
inline constexpr std::size_t kMaxTarget = 4096;
inline constexpr std::size_t kMaxPath = 512;
inline constexpr std::size_t kMaxHeaderLine = 4096;
inline constexpr std::size_t kMaxHeaders = 64;
inline constexpr std::size_t kMaxRequestBody = 32768;

struct CheckedHead {
  int status = 0;           // the response to a head that is refused; 0: it is fine
  const char* reason = "";  // why it is refused
  std::string text;         // the head without headers that do not concern us
  std::size_t body_bytes = 0;
  bool expects_continue = false;  // the client waits for a response 100 before it sends the body
  // Headers by which a client may be known; empty where there is none.
  std::string authorization;
  std::string cookie;
};

// `head` ends with the empty line.
CheckedHead check_head(std::string_view head);

}  // namespace ferry::farm::http
