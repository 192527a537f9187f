#include "farm/web/response_text.h"

#include <doctest/doctest.h>

using namespace ferry::farm::http;

TEST_CASE("a response states its length, also to a request for its head") {
  HttpResponse response;
  response.status = 404;
  response.body = "nothing here";
  response.headers.emplace_back("Allow", "GET");
  const std::string head =
      "HTTP/1.1 404 Not found\r\nConnection: close\r\nAllow: GET\r\nContent-Type: text/html; charset=utf-8\r\n"
      "Content-Length: 12\r\n\r\n";
  CHECK(response_text(response, "GET") == head + "nothing here");
  CHECK(response_text(response, "HEAD") == head);
}

TEST_CASE("a redirection has no content, and an event stream ends with its connection") {
  HttpResponse response;
  response.status = 303;
  response.headers.emplace_back("Location", "/");
  CHECK(response_text(response, "POST") ==
        "HTTP/1.1 303 See other\r\nConnection: close\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
  HttpResponse stream;
  stream.content_type = "text/event-stream";
  stream.events = std::make_shared<EventStream>();
  CHECK(response_text(stream, "GET") ==
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n");
}
