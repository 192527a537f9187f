// Webhooks: URLs, and servers that do not behave.
#include "farm/hooks/webhook.h"

#include <doctest/doctest.h>

#include "tests/unit/farm/hooks/loopback_server.h"

namespace ferry::test {
namespace {

using farm::parse_webhook_url;
using farm::post_json;
using std::chrono::milliseconds;

farm::WebhookUrl url_of(const LoopbackServer& server, const std::string& path = "/hook?room=lab") {
  return parse_webhook_url(server.url() + path).value();
}

TEST_CASE("a URL is divided into server and path") {
  const struct {
    const char *text, *server, *path;
  } cases[] = {{"http://host", "http://host", "/"},
               {"https://hooks.example.org:8443/a/b?c=d", "https://hooks.example.org:8443", "/a/b?c=d"},
               {"http://[::1]:80/x", "http://[::1]:80", "/x"},
               {"http://127.0.0.1?q", "http://127.0.0.1", "/?q"}};
  for (const auto& one : cases) {
    const auto url = parse_webhook_url(one.text);
    REQUIRE_MESSAGE(url.is_ok(), one.text);
    CHECK(url.value().server == one.server);
    CHECK(url.value().path == one.path);
  }
}

TEST_CASE("what is no URL, or one with a user, a fragment or control characters, is refused") {
  for (const std::string& text :
       {std::string(), std::string("host"), std::string("ftp://host"), std::string("http://"), std::string("http:///x"),
        std::string("http://user:pass@host/"), std::string("http://host:0/"), std::string("http://host:65536/"),
        std::string("http://host:8x/"), std::string("http://host/#a"), std::string("http://host/a b"),
        std::string("http://host/\r\nX: y"), std::string("http://ho st/"), std::string("http://[::1/"),
        std::string("http://[x]/"), std::string("HTTP://host/"), "http://host/" + std::string(2048, 'x')}) {
    CAPTURE(text);
    CHECK(parse_webhook_url(text).status().code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("JSON is posted as one request") {
  LoopbackServer server({"HTTP/1.1 204 No Content\r\n\r\n"});
  const Status posted = post_json(url_of(server), "{\"board\":\"pi-3\"}", std::chrono::seconds(10));
  CHECK_MESSAGE(posted.is_ok(), posted.message());
  const auto requests = server.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].find("POST /hook?room=lab HTTP/1.1\r\n") == 0);
  CHECK(requests[0].find("Content-Type: application/json\r\n") != std::string::npos);
  CHECK(requests[0].find("\r\n\r\n{\"board\":\"pi-3\"}") != std::string::npos);
}

TEST_CASE("another status is a failure, and a redirect is not followed") {
  LoopbackServer other({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  LoopbackServer moved({"HTTP/1.1 307 Moved\r\nLocation: " + other.url() + "/\r\nContent-Length: 0\r\n\r\n"});
  const Status refused = post_json(url_of(moved, "/secret"), "{}", std::chrono::seconds(10));
  CHECK(refused.code() == ErrorCode::unavailable);
  CHECK(refused.message() == moved.url() + " answered with status 307");
  CHECK(other.requests().empty());
}

TEST_CASE("a server that is silent, slow or never ends its headers is given up in time") {
  const std::string endless = "HTTP/1.1 200 OK\r\n" + std::string(5000, 'x');
  for (const ServerBehaviour& behaviour :
       {ServerBehaviour{"", milliseconds(0)}, ServerBehaviour{endless, milliseconds(10)}}) {
    // The listener closes after an empty answer, so the silent one is a connection that is not even accepted.
    const Descriptor silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(silent.number(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(silent.number(), 4) == 0);
    REQUIRE(getsockname(silent.number(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    LoopbackServer server(behaviour);
    const std::string base =
        behaviour.answer.empty() ? "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) : server.url();
    const Status late = post_json(parse_webhook_url(base).value(), "{}", milliseconds(300));
    CHECK(late.code() == ErrorCode::deadline_exceeded);
    CHECK(late.message() == base + " did not answer within 0.3 s");
  }
}

TEST_CASE("a body without end is not waited for") {
  LoopbackServer server({"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n" + std::string(100, 'x')});
  CHECK(post_json(url_of(server), "{}", std::chrono::seconds(10)).is_ok());
}

TEST_CASE("servers that hang up, talk nonsense or are not there are failures") {
  LoopbackServer closing({"", milliseconds(0), true});
  CHECK(post_json(url_of(closing), std::string(1 << 20, 'x'), std::chrono::seconds(10)).code() ==
        ErrorCode::unavailable);
  LoopbackServer nonsense({"SSH-2.0-OpenSSH_9.2\r\n\r\n"});
  CHECK(post_json(url_of(nonsense), "{}", std::chrono::seconds(10)).code() == ErrorCode::unavailable);
  int port = 0;
  {
    port = LoopbackServer({"x"}).port();
  }
  const std::string gone = "http://127.0.0.1:" + std::to_string(port);
  const Status absent = post_json(parse_webhook_url(gone + "/secret").value(), "{}", std::chrono::seconds(10));
  CHECK(absent.code() == ErrorCode::unavailable);
  CHECK(absent.message().find("cannot reach " + gone + " (") == 0);
  CHECK(absent.message().find("secret") == std::string::npos);
}

TEST_CASE("a server without a certificate is not taken for one of https") {
  LoopbackServer server({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  const auto url = parse_webhook_url("https://127.0.0.1:" + std::to_string(server.port()) + "/").value();
  CHECK(!post_json(url, "{}", milliseconds(500)).is_ok());
}

}  // namespace
}  // namespace ferry::test
