// The server with real connections: what clients do wrong, slowly or too often.
#include "farm/web/http_server.h"

#include <doctest/doctest.h>
#include <httplib.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <thread>

#include "tests/support/farm/scripted_farm.h"
#include "tests/unit/farm/web/raw_client.h"

using namespace ferry::farm::http;
using ferry::test::RawClient;
using ferry::test::ScriptedFarm;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr seconds kLong{60};          // for what happens at once
constexpr seconds kForever{100'000};  // a limit that no test reaches

struct Served {
  explicit Served(HttpOptions options = {}) {
    farm.add_sample();
    options.port = 0;
    auto started = HttpServer::start(farm, options);
    if (!started.is_ok()) FAIL(started.status().message());
    server = std::move(started.value());
  }

  httplib::Client client() const { return httplib::Client("127.0.0.1", server->port()); }
  std::string exchange(const std::string& request) const {
    RawClient raw(server->port());
    CHECK(raw.send(request));
    return raw.read();
  }

  int status_of(const std::string& target) const {
    httplib::Client http = client();
    http.set_read_timeout(kLong);
    const auto answer = http.Get(target, {{"Authorization", "Bearer token-of-a-viewer"}});
    return answer ? answer->status : 0;
  }

  // Returns the cookie of a new session.
  std::string log_in() const {
    httplib::Client browser = client();
    const auto form = browser.Get("/login");
    REQUIRE(form);
    const std::string cookie = form->get_header_value("Set-Cookie").substr(0, 76);
    const std::string origin = "http://127.0.0.1:" + std::to_string(server->port());
    const auto done = browser.Post("/login", {{"Cookie", cookie}, {"Origin", origin}},
                                   "csrf=" + cookie.substr(12) + "&token=" + ScriptedFarm::kUser,
                                   "application/x-www-form-urlencoded");
    REQUIRE(done);
    REQUIRE(done->status == 303);
    for (std::size_t i = 0; i < done->get_header_value_count("Set-Cookie"); ++i) {
      const std::string set = done->get_header_value("Set-Cookie", i);
      if (set.starts_with("ferry_session=")) return set.substr(0, set.find(';'));
    }
    return {};
  }
  std::string events_request(const std::string& cookie) const {
    return "GET /events HTTP/1.1\r\nHost: localhost\r\nCookie: " + cookie + "\r\n\r\n";
  }

  ScriptedFarm farm;
  std::unique_ptr<HttpServer> server;
};

std::string status_line(const std::string& response) { return response.substr(0, response.find("\r\n")); }

bool has_status(const std::string& response, int status) {
  return response.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

}  // namespace

TEST_CASE("the server answers clients of HTTP and closes each connection after one response") {
  const Served served;
  httplib::Client client = served.client();
  client.set_keep_alive(true);
  const auto health = client.Get("/healthz");
  REQUIRE(health);
  CHECK(health->status == 200);
  CHECK(health->get_header_value("Connection") == "close");
  const auto boards = client.Get("/api/v1/boards/rpi4-01", {{"Authorization", "Bearer token-of-a-viewer"}});
  REQUIRE(boards);
  CHECK(boards->status == 200);
  CHECK(boards->get_header_value("Content-Type") == "application/json");
  const auto order = client.Post("/api/v1/boards/rpi4-01/order", {{"Authorization", "Bearer token-of-an-admin"}},
                                 R"({"order": "maintain"})", "application/json");
  REQUIRE(order);
  CHECK(order->status == 200);
  const std::string two = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer = served.exchange(two + two);
  CHECK(has_status(answer, 200));
  CHECK(answer.find("HTTP/1.1", 1) == std::string::npos);
  const std::string head = served.exchange("HEAD /login HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(has_status(head, 200));
  CHECK(head.ends_with("\r\n\r\n"));
}

TEST_CASE("addresses that other machines reach are refused without a proxy, and the message says what to do") {
  ScriptedFarm farm;
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1"}) {
    CAPTURE(host);
    HttpOptions options;
    options.host = host;
    options.port = 0;
    const auto started = HttpServer::start(farm, options);
    REQUIRE_FALSE(started.is_ok());
    CHECK(started.status().code() == ferry::ErrorCode::invalid_argument);
    const std::string message = started.status().message();
    CAPTURE(message);
    CHECK(message.find(std::string("expected a loopback address, got ") + host) != std::string::npos);
    CHECK(message.find("unencrypted") != std::string::npos);
    CHECK(message.find("--behind-proxy") != std::string::npos);
  }
  HttpOptions options;
  options.host = "0.0.0.0";
  options.port = 0;
  options.behind_proxy = true;
  const auto started = HttpServer::start(farm, options);
  REQUIRE(started.is_ok());
  CHECK(started.value()->port() != 0);
}

TEST_CASE("a port that is taken is an error") {
  const Served served;
  ScriptedFarm farm;
  HttpOptions options;
  options.port = served.server->port();
  const auto started = HttpServer::start(farm, options);
  REQUIRE_FALSE(started.is_ok());
  CHECK(started.status().code() == ferry::ErrorCode::unavailable);
}

TEST_CASE("requests that are malformed or too large get the status that says so") {
  const Served served;
  const std::string host = "Host: localhost\r\n";
  const struct {
    std::string request;
    int status;
  } cases[] = {
      {"\r\n\r\n", 400},
      {std::string("\x16\x03\x01\x02\0\x01", 6) + "\r\n\r\n", 400},
      {"GET /" + std::string(5000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414},
      {"GET / HTTP/1.1\r\n" + host + "A: " + std::string(5000, 'a') + "\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\n" + host + "A: " + std::string(100'000, 'a'), 431},
      {"GET / HTTP/1.1\r\n" + std::string(100'000, 'a'), 431},
      {"POST /login HTTP/1.1\r\n" + host + "Content-Length: 100000000\r\n\r\n", 413},
      {"POST /login HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411},
      {"GET /healthz HTTP/1.1\r\n\r\n", 400},
      {"PUT /healthz HTTP/1.1\r\n" + host + "\r\n", 405},
      {"BREW /healthz HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 404},
      {"GET /%00 HTTP/1.1\r\n" + host + "\r\n", 404},
      {"GET /..%2f..%2fetc/passwd HTTP/1.1\r\n" + host + "\r\n", 404},
      {"GET /../../etc/passwd HTTP/1.1\r\n" + host + "\r\n", 404},
      {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", 400},
      {"CONNECT evil:443 HTTP/1.1\r\n" + host + "\r\n", 400},
  };
  for (const auto& [request, status] : cases) {
    CAPTURE(request.substr(0, 80));
    const std::string answer = served.exchange(request);
    CAPTURE(status_line(answer));
    CHECK(has_status(answer, status));
    CHECK(answer.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
  }
}

TEST_CASE("ranges and compression of responses are ignored") {
  const Served served;
  const std::string answer = served.exchange(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-0,0-0\r\nAccept-Encoding: gzip, br\r\n\r\n");
  CHECK(has_status(answer, 200));
  CHECK(answer.find("Content-Encoding") == std::string::npos);
  CHECK(answer.ends_with("\r\n\r\nok\n"));
}

TEST_CASE("a head or a body that trickles in is cut at the deadline of the whole request") {
  HttpOptions options;
  options.request_deadline = milliseconds(200);
  const Served served(options);
  for (const std::string start :
       {"", "GET / HTTP/1.1\r\n",
        "POST /api/v1/boards HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        "Authorization: Bearer token-of-an-admin\r\nContent-Type: application/json\r\n\r\n"}) {
    CAPTURE(start);
    RawClient slow(served.server->port());
    slow.send(start);
    std::string answer;
    // One byte every 50 ms, each of which would satisfy a limit of single reads.
    for (int i = 0; i < 500 && !slow.is_closed() && answer.empty(); ++i) {
      slow.send("a");
      answer += slow.read_until("\r\n\r\n", milliseconds(50));
    }
    CHECK(has_status(answer, 408));
  }
}

TEST_CASE("slow connections cost no thread") {
  HttpOptions options;
  options.threads = 2;
  options.request_deadline = kForever;
  const Served served(options);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<RawClient>(served.server->port()));
    slow.back()->send(i % 2 == 0 ? "GET / HT" : "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nbody");
  }
  CHECK(served.status_of("/healthz") == 200);
}

TEST_CASE("the oldest of the connections on which no request has arrived gives way to others") {
  HttpOptions options;
  options.request_deadline = kForever;
  const Served served(options);
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 513; ++i) silent.push_back(std::make_unique<RawClient>(served.server->port()));
  silent.front()->read(kLong);
  CHECK(silent.front()->is_closed());
  silent[1]->send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(has_status(silent[1]->read(kLong), 200));
}

TEST_CASE("clients that do not read their responses cost no thread, and the oldest of very many gives way") {
  HttpOptions options;
  options.threads = 2;
  options.response_deadline = kForever;
  Served served(options);
  for (int i = 0; i < 99; ++i) {
    ferry::farm::wire::DeviceListing board = served.farm.board("rpi4-01");
    board.name = "board-" + std::to_string(i);
    board.description.model = std::string(60'000, 'm');
    served.farm.add_board(board);
  }
  const std::string request =
      "GET /api/v1/boards HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-of-a-viewer\r\n\r\n";
  const std::size_t size = served.exchange(request).size();
  REQUIRE(size > 5'000'000);  // more than the system takes from the server
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 129; ++i) {
    slow.push_back(std::make_unique<RawClient>(served.server->port(), 2000));
    CHECK(slow.back()->send(request));
    CHECK(has_status(slow.back()->read_until(" 200 ", kLong), 200));
  }
  CHECK(served.status_of("/login") == 200);
  // Who reads later gets all of it.
  CHECK(slow.front()->read(kLong).size() < size / 2);
  CHECK(slow.back()->read(kLong).size() > size - 10'000);
}

TEST_CASE("a client that sends more than its request reads the response, and is cut off before it has sent much") {
  HttpOptions options;
  const Served served(options);
  RawClient client(served.server->port());
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  CHECK(client.send(request));
  std::string flood;
  while (flood.size() < 100'000) flood += request;
  std::size_t sent = 0;
  while (sent < (64U << 20) && client.send(flood)) sent += flood.size();
  CHECK(sent < (64U << 20));
  CHECK(served.status_of("/healthz") == 200);
}

TEST_CASE("bad requests without end from clients that stay connected keep nobody from the page") {
  HttpOptions options;
  options.threads = 2;
  const Served served(options);
  std::atomic<bool> is_over{false};
  std::atomic<int> sent{0};
  std::thread flood([&] {
    std::deque<std::unique_ptr<RawClient>> open;
    for (; !is_over; ++sent) {
      open.push_back(std::make_unique<RawClient>(served.server->port()));
      open.back()->send(sent % 2 == 0 ? "nonsense\r\n\r\n"
                                      : "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\nabc");
      if (open.size() > 400) open.pop_front();
    }
  });
  while (sent < 200) std::this_thread::yield();
  for (int i = 0; i < 40; ++i) {
    CHECK(served.status_of("/healthz") == 200);
    CHECK(served.status_of("/api/v1/boards") == 200);
  }
  is_over = true;
  flood.join();
}

TEST_CASE("where no more requests may wait, the newest are cut off, and all that wait are answered") {
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  HttpOptions options;
  options.threads = 1;
  Served served(options);
  REQUIRE(served.status_of("/api/v1/boards") == 200);  // makes the viewer's token known
  served.farm.set_blocked(true);
  const int lookups = served.farm.token_lookups();
  const auto ask = [&](const std::string& token) {
    auto client = std::make_unique<RawClient>(served.server->port());
    CHECK(
        client->send("GET /api/v1/boards HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n"));
    return client;
  };
  const auto first = ask("unknown");
  while (served.farm.token_lookups() == lookups) std::this_thread::yield();
  constexpr int kWaiting = 256;  // how many of each kind may wait
  std::vector<std::unique_ptr<RawClient>> strangers, known;
  for (int i = 0; i < kWaiting + 4; ++i) strangers.push_back(ask("unknown"));
  for (int i = 0; i < kWaiting + 4; ++i) known.push_back(ask(ScriptedFarm::kViewer));
  for (int cut_off = 0; cut_off < 8;) {
    cut_off = 0;
    for (const auto* clients : {&strangers, &known})
      for (const auto& client : *clients) cut_off += client->is_cut_off() ? 1 : 0;
  }
  served.farm.set_blocked(false);
  CHECK(has_status(first->read(kLong), 401));
  int answered = 0;
  for (const auto& client : strangers) answered += client->read(kLong).empty() ? 0 : 1;
  for (const auto& client : known) answered += has_status(client->read(kLong), 200) ? 1 : 0;
  CHECK(answered == 2 * kWaiting);
}

TEST_CASE("a stream delivers changes and ends when its token is revoked") {
  Served served;
  RawClient stream(served.server->port());
  stream.send(served.events_request(served.log_in()));
  const std::string head = stream.read_until("event: change\ndata: ", kLong);
  CHECK(has_status(head, 200));
  CHECK(head.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  CHECK(head.find("Content-Length") == std::string::npos);
  CHECK(head.find("X-Accel-Buffering: no") != std::string::npos);
  stream.read_until("\n\n", milliseconds(100));
  served.farm.touch();
  CHECK(stream.read_until("event: change\n", kLong).find("event: change\n") != std::string::npos);
  served.farm.revoke_token(ScriptedFarm::kUser);
  CHECK(stream.read(kLong).find("event: end\n") != std::string::npos);
  CHECK(stream.is_closed());
}

TEST_CASE("64 streams run at a time without a thread, others are refused, and requests are still answered") {
  HttpOptions options;
  options.threads = 2;
  Served served(options);
  const std::string request = served.events_request(served.log_in());
  std::vector<std::unique_ptr<RawClient>> streams;
  for (int i = 0; i < 64; ++i) {
    streams.push_back(std::make_unique<RawClient>(served.server->port()));
    streams.back()->send(request);
    CHECK(has_status(streams.back()->read_until("\r\n\r\n", kLong), 200));
  }
  CHECK(has_status(served.exchange(request), 503));
  CHECK(served.status_of("/healthz") == 200);
  served.farm.touch();
  for (const auto& stream : streams) CHECK(stream->read_until("event: change\n", kLong) != "");
  // One that sends too much is closed, and the places of those who leave are free soon.
  while (streams.front()->send(std::string(1 << 20, 'x'))) {
  }
  streams.resize(32);
  for (bool is_free = false; !is_free;) {
    RawClient again(served.server->port());
    again.send(request);
    is_free = has_status(again.read_until("\r\n\r\n", kLong), 200);
  }
}

TEST_CASE("the server stops with streams, silent and slow connections open") {
  HttpOptions options;
  options.request_deadline = options.response_deadline = kForever;
  Served served(options);
  const std::string request = served.events_request(served.log_in());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 30; ++i) {
    clients.push_back(std::make_unique<RawClient>(served.server->port()));
    if (i % 3 != 0) clients.back()->send(i % 3 == 1 ? request : "GET / HTTP/1.1\r\n");
  }
  clients[1]->read_until("event: change", kLong);
  const std::uint16_t port = served.server->port();
  served.server->stop();
  for (auto& client : clients) client->read(kLong);
  CHECK(clients[0]->is_closed());
  CHECK(clients[1]->is_closed());
  served.server->stop();  // again, without effect
  served.server.reset();
  CHECK_FALSE(RawClient(port).is_connected());
}
