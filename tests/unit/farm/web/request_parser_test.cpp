#include "farm/web/request_parser.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::farm::http;

namespace {

using State = RequestParser::State;

// The status that refuses a head; 0: it is accepted.
int status_of_head(const std::string& head) {
  RequestParser parser;
  REQUIRE(parser.add(head) != State::head);
  return parser.status();
}

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

}  // namespace

TEST_CASE("a request is whole once all of it has arrived, however it is divided, and what follows it is ignored") {
  const std::string text =
      "POST /order?a=1 HTTP/1.1\r\nHost: localhost:8080\r\nCONTENT-length:  7 \r\nRange: bytes=0-1,0-1\r\n"
      "Accept-Encoding: gzip\r\nX_Forwarded_For: 10.0.0.1\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\n"
      "Cookie: a=b; c=d\r\n\r\n\r\n\r\nbod";
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    CAPTURE(cut);
    RequestParser parser;
    CHECK(parser.add(text.substr(0, cut)) == (cut < text.size() - 7 ? State::head : State::body));
    CHECK(parser.add(text.substr(cut) + "GET / HTTP/1.1\r\n\r\n") == State::whole);
    const HttpRequest& request = parser.request();
    CHECK(request.method == "POST");
    CHECK(request.target == "/order?a=1");
    CHECK(request.host == "localhost:8080");
    CHECK(request.cookie == "a=b; c=d");
    CHECK(request.authorization == "");
    CHECK(request.forwarded_for == "5.6.7.8");
    CHECK(request.body == "\r\n\r\nbod");
    CHECK(parser.add("more") == State::whole);
    CHECK(request.body == "\r\n\r\nbod");
  }
}

TEST_CASE("what is refused for its head does not wait for its body, nor what is too large for its end") {
  CHECK(status_of_head("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n") == 413);
  CHECK(status_of_head("nonsense\r\n\r\n") == 400);
  CHECK(status_of_head(std::string(kMaxHead + 1, 'a')) == 431);
  RequestParser parser;
  CHECK(parser.add(std::string(kMaxHead, 'a')) == State::head);
  CHECK(parser.add("a") == State::refused);
  CHECK(parser.add("\r\n\r\n") == State::refused);
}

TEST_CASE("a client of HTTP 1.1 that sends its body only when asked expects to be asked until it has") {
  RequestParser parser, older;
  parser.add("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n");
  CHECK(parser.expects_continue());
  parser.add("body");
  CHECK_FALSE(parser.expects_continue());
  older.add("POST / HTTP/1.0\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  CHECK(older.state() == State::body);
  CHECK_FALSE(older.expects_continue());
}

TEST_CASE("request lines that are not exact are refused") {
  for (const char* line : {"GET / HTTP/1.1 ", "GET  HTTP/1.1", "GET / HTTP/1.10", "get / HTTP/1.1", "GET x HTTP/1.1",
                           "GET http://h/ HTTP/1.1", "GET / / HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\xc3 HTTP/1.1", "",
                           "GET /#a HTTP/1.1", "GET /", "G\tT / HTTP/1.1", "GETS / HTTP/1.1"}) {
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
  CHECK(post("Content-Length: 1\r\nContent_Length: 1\r\n") == 0);  // another header
  CHECK(post("Content-Length : 1\r\n") == 400);
  CHECK(post("Content-Length: 0x1\r\n") == 400);
  CHECK(post("Content-Length: \r\n") == 400);
  CHECK(post("X: y\r\n\tContent-Length: 1\r\n") == 400);
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
