#include "farm/web/request_head.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::farm::http;

namespace {

int status_of_head(const std::string& head) { return check_head(head).status; }

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

}  // namespace

TEST_CASE("a head keeps what matters and loses what we do not serve") {
  const CheckedHead head = check_head(
      "POST /order?a=1 HTTP/1.1\r\nHost: localhost:8080\r\nContent-Length: 7\r\nRange: bytes=0-1,0-1\r\n"
      "Accept-Encoding: gzip\r\nREMOTE_ADDR: 10.0.0.1\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n");
  CHECK(head.status == 0);
  CHECK(head.body_bytes == 7);
  CHECK(head.text ==
        "POST /order?a=1 HTTP/1.1\r\nhost: localhost:8080\r\ncontent-length: 7\r\nx-forwarded-for: 1.2.3.4\r\n\r\n");
}

TEST_CASE("request lines that are not exact are refused") {
  for (const char* line : {"GET / HTTP/1.1 ", "GET  HTTP/1.1", "GET / HTTP/1.10", "get / HTTP/1.1", "GET x HTTP/1.1",
                           "GET http://h/ HTTP/1.1", "GET / / HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\xc3 HTTP/1.1", "",
                           "GET /#a HTTP/1.1", "GET /", "G\tT / HTTP/1.1"}) {
    CAPTURE(line);
    const int status = status_of_head(std::string(line) + "\r\nHost: x\r\n\r\n");
    CHECK((status == 400 || status == 505));
  }
  CHECK(status_of_head("GET / HTTP/2.0\r\nHost: x\r\n\r\n") == 505);
}

TEST_CASE("line ends other than CR LF are refused") {
  CHECK(status_of_head("GET / HTTP/1.1\nHost: x\n\n\r\n\r\n") == 400);
  CHECK(status_of_head("GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n") == 400);
  CHECK(status_of_head("GET / HTTP/1.1\r\nHost: x\r\n A: folded\r\n\r\n") == 400);
  CHECK(status_of_head("GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n") == 400);
  CHECK(status_of_head(std::string("GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n", 32)) == 400);
}

TEST_CASE("lengths that could hide a second request are refused") {
  const auto post = [](const std::string& headers) {
    return status_of_head("POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
  };
  CHECK(post("") == 411);
  CHECK(post("Transfer-Encoding: chunked\r\n") == 411);
  CHECK(post("Content-Length: 1\r\nTransfer-Encoding: identity\r\n") == 411);
  CHECK(post("Content-Length: 1\r\nContent-Length: 1\r\n") == 400);
  CHECK(post("Content-Length: +1\r\n") == 400);
  CHECK(post("Content-Length: 1, 1\r\n") == 400);
  CHECK(post("Content-Length: 99999999999999999999\r\n") == 400);
  CHECK(post("Content-Length: 32769\r\n") == 413);
  CHECK(post("Content-Length: 32768\r\n") == 0);
  CHECK(status_of_head(get("/", "Content-Length: 1\r\n")) == 400);
  CHECK(status_of_head(get("/", "Content-Length: 0\r\n")) == 0);
}

TEST_CASE("bodies that would have to be unpacked are refused") {
  CHECK(status_of_head(get("/", "Content-Encoding: gzip\r\n")) == 415);
  CHECK(status_of_head(get("/", "Content-Type: Multipart/form-data; boundary=x\r\n")) == 415);
  CHECK(status_of_head(get("/", "Expect: 200-ok\r\n")) == 417);
}

TEST_CASE("headers that decide something must stand there once") {
  CHECK(status_of_head("GET / HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of_head(get("/", "Host: other\r\n")) == 400);
  for (const char* name : {"Authorization", "Cookie", "Origin", "Content-Type", "Sec-Fetch-Site"}) {
    CAPTURE(name);
    const std::string line = std::string(name) + ": a\r\n";
    CHECK(status_of_head(get("/", line)) == 0);
    CHECK(status_of_head(get("/", line + line)) == 400);
  }
  CHECK(status_of_head(get("/", "Accept: a\r\nAccept: b\r\n")) == 0);
}

TEST_CASE("the sizes of a head have limits") {
  const std::string path(kMaxPath - 1, 'p');
  CHECK(status_of_head(get("/" + path)) == 0);
  CHECK(status_of_head(get("/p" + path)) == 414);
  CHECK(status_of_head(get("/?" + std::string(kMaxTarget - 2, 'q'))) == 0);
  CHECK(status_of_head(get("/?" + std::string(kMaxTarget - 1, 'q'))) == 414);
  CHECK(status_of_head(get("/", "A: " + std::string(kMaxHeaderLine - 3, 'v') + "\r\n")) == 0);
  CHECK(status_of_head(get("/", "A: " + std::string(kMaxHeaderLine - 2, 'v') + "\r\n")) == 431);
  std::string many;
  for (std::size_t i = 1; i < kMaxHeaders; ++i) many += "A: b\r\n";
  CHECK(status_of_head(get("/", many)) == 0);
  CHECK(status_of_head(get("/", many + "A: b\r\n")) == 431);
}
