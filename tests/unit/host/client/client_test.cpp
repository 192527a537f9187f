#include "host/client/client.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/host/client/error_of.h"
#include "tests/unit/host/client/scripted_server.h"

using namespace ferry;
using session::Client;
using test::error_of;
using test::Request;
using test::ScriptedServer;

namespace {

session::SessionOptions impatient(int milliseconds) {
  session::SessionOptions session_options;
  session_options.timeout = std::chrono::milliseconds(milliseconds);
  return session_options;
}

}  // namespace

TEST_CASE("the answer to open tells the client what the device is") {
  ScriptedServer server([](ScriptedServer& s) { s.welcome(); });
  Client client(server.client_end(), "board:9090");
  CHECK(client.facts().cpu_name == "a scripted CPU");
  CHECK(client.peer() == "board:9090");
}

TEST_CASE("the devices of a module are those of its kinds, in the order in which the session was opened with them") {
  ScriptedServer server([](ScriptedServer& s) { s.welcome(); });
  session::SessionOptions session_options;
  session_options.devices = {"opencl:1", "cpu", "cuda", "opencl"};
  const Client client(server.client_end(), "board:9090", {}, session_options);
  CHECK(client.device_of_kind("cpu", 0) == 0);
  CHECK(client.device_of_kind("opencl", 0) == 1);
  CHECK(client.device_of_kind("cuda", 0) == 2);
  CHECK(client.device_of_kind("opencl", 1) == 3);
  for (const char* kind : {"cpu", "cuda"}) CHECK(client.device_of_kind(kind, 1) == std::nullopt);
  CHECK(client.device_of_kind("opencl", 2) == std::nullopt);
}

TEST_CASE("a server older than guarded memory is used without, and that is said") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    s.refuse(s.receive(), ErrorCode::unsupported, "this server does not know messages of tag 40");
    s.answer(s.receive(), rpc::Empty{});
  });
  session::SessionOptions session_options;
  session_options.guard_memory = true;
  std::string said;
  session::EventHandlers handlers;
  handlers.log = [&](const rpc::LogEvent& event) { said = event.text; };
  Client client(server.client_end(), "board:9090", handlers, session_options);
  CHECK(said.find("older than guarded tensors") != std::string::npos);
  client.call(rpc::Ping{});
}

TEST_CASE("a server of another version is refused with the server's words") {
  ScriptedServer server([](ScriptedServer& s) {
    s.refuse(s.receive(), ErrorCode::version_mismatch, "this server speaks versions 7 to 9, the client 1 to 1");
  });
  const Error error = error_of([&] { Client client(server.client_end(), "board:9090"); });
  CHECK(error.code() == ErrorCode::version_mismatch);
  CHECK(std::string(error.what()) == "this server speaks versions 7 to 9, the client 1 to 1");
}

TEST_CASE("a listener that never answers is given up") {
  ScriptedServer server([](ScriptedServer& s) {
    s.receive();
    s.receive();
  });
  const Error error = error_of([&] { Client client(server.client_end(), "board:9090", {}, impatient(50)); });
  CHECK(error.code() == ErrorCode::unavailable);
  CHECK(std::string(error.what()) ==
        "board:9090 does not answer: something listens there, but it is no ferry rpc_server");
}

TEST_CASE("a client in the queue waits longer than for an answer, and hears its place") {
  ScriptedServer server([](ScriptedServer& s) {
    const Request open = s.receive();
    for (std::uint32_t position : {2u, 1u}) {
      (void)s.connection().send_event(rpc::EventTag::waiting, rpc::WaitingEvent{position, "somebody else", 1000});
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    s.answer(open, rpc::OpenReply{});
  });
  std::vector<std::uint32_t> places;
  session::EventHandlers handlers;
  handlers.waiting = [&](const rpc::WaitingEvent& event) { places.push_back(event.position); };
  Client client(server.client_end(), "board:9090", handlers, impatient(500));
  CHECK(places == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("a client that is tired of waiting gives up and names who holds the device") {
  ScriptedServer server([](ScriptedServer& s) {
    s.receive();
    (void)s.connection().send_event(rpc::EventTag::waiting, rpc::WaitingEvent{3, "a nightly job", 1000});
    s.receive();
  });
  session::SessionOptions session_options;
  session_options.queue_timeout = std::chrono::milliseconds(50);
  const Error error = error_of([&] { Client client(server.client_end(), "board:9090", {}, session_options); });
  CHECK(error.code() == ErrorCode::busy);
  CHECK(std::string(error.what()) == "gave up waiting for board:9090 at place 3; it is held by a nightly job");
}

TEST_CASE("a server that only ever tells of events is given up as one that is silent, in the queue as well") {
  for (const bool queued : {false, true}) {
    CAPTURE(queued);
    ScriptedServer server([queued](ScriptedServer& s) {
      s.receive();
      if (queued) (void)s.connection().send_event(rpc::EventTag::waiting, rpc::WaitingEvent{1, "a nightly job", 1000});
      while (s.connection().send_event(rpc::EventTag::log, rpc::LogEvent{0, "still here"}).is_ok()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    session::SessionOptions session_options = impatient(100);
    session_options.queue_timeout = std::chrono::milliseconds(100);
    const Error error = error_of([&] { Client client(server.client_end(), "board:9090", {}, session_options); });
    CHECK(error.code() == (queued ? ErrorCode::busy : ErrorCode::unavailable));
  }
}

TEST_CASE("what the server says of the connection fails every request with it") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    s.receive();
    (void)s.connection().send_failure({}, {ErrorCode::deadline_exceeded, "the session took too long"});
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  const Error error = error_of([&] { client.call(rpc::Ping{}); });
  CHECK(error.code() == ErrorCode::deadline_exceeded);
  CHECK(std::string(error.what()).find("the session took too long") != std::string::npos);
  CHECK_FALSE(client.is_open());
}

TEST_CASE("requests are sent before the answers of earlier ones arrive") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    std::vector<Request> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(s.receive());
    for (const Request& request : requests) s.answer(request, rpc::CallReply{request.header.request * 10});
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  auto first = client.send(rpc::Call{});
  auto second = client.send(rpc::Call{});
  auto third = client.send(rpc::Call{});
  CHECK(third.get().elapsed_ns == 40);
  CHECK(first.get().elapsed_ns == 20);
  CHECK(second.get().elapsed_ns == 30);
  CHECK(client.round_trips() == 2);
}

TEST_CASE("events between answers reach their handler, unknown ones are skipped") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    const Request request = s.receive();
    (void)s.connection().send_event(static_cast<rpc::EventTag>(4711), rpc::Empty{});
    (void)s.connection().send_event(rpc::EventTag::log, rpc::LogEvent{request.header.request, "a line"});
    s.answer(request, rpc::CallReply{5});
    s.receive();
  });
  std::string line;
  session::EventHandlers handlers;
  handlers.log = [&](const rpc::LogEvent& event) { line = event.text; };
  Client client(server.client_end(), "board:9090", handlers);
  CHECK(client.call(rpc::Call{}).elapsed_ns == 5);
  CHECK(line == "a line");
}

TEST_CASE("whatever a server says can be shown on a terminal") {
  const std::string hostile = "board\x1b]0;owned\x07\nferry: all is well";
  const std::string line = R"(board\x1b]0;owned\x07\nferry: all is well)";
  const std::string lines = "board\\x1b]0;owned\\x07\nferry: all is well";
  ScriptedServer server([&](ScriptedServer& s) {
    const Request open = s.receive();
    (void)s.connection().send_event(rpc::EventTag::waiting, rpc::WaitingEvent{1, hostile, 0});
    rpc::OpenReply reply;
    reply.facts.cpu_name = hostile;
    s.answer(open, reply);
    const Request request = s.receive();
    (void)s.connection().send_event(rpc::EventTag::log, rpc::LogEvent{request.header.request, hostile});
    s.refuse(request, ErrorCode::device_error, hostile);
  });
  std::string said;
  session::EventHandlers handlers;
  handlers.waiting = [&](const rpc::WaitingEvent& event) { CHECK(event.holder == line); };
  handlers.log = [&](const rpc::LogEvent& event) { said = event.text; };
  Client client(server.client_end(), "board:9090", handlers);
  CHECK(client.facts().cpu_name == line);
  const Error error = error_of([&] { client.call(rpc::Call{}); });
  CHECK(said == lines);
  // Text with a line break must not look like a line of the program's own output.
  CHECK(std::string(error.what()) == "board\\x1b]0;owned\\x07\n  ferry: all is well");
}

TEST_CASE("an aborted request is reported with the failure it depended on") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    const Request alloc = s.receive();
    s.refuse(alloc, ErrorCode::resource_exhausted, "the session's limit is 1 MiB");
    const Request call = s.receive();
    s.refuse(call, ErrorCode::aborted, "request 2 failed", alloc.header.request);
    s.answer(s.receive(), rpc::Empty{});
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  client.post(rpc::Alloc{1, 1u << 30, 0});
  const Error error = error_of([&] { client.call(rpc::Call{}); });
  CHECK(error.code() == ErrorCode::resource_exhausted);
  CHECK(std::string(error.what()) == "the session's limit is 1 MiB");
  client.synchronize();  // the error was already reported
}

TEST_CASE("a failure nobody waited for comes out at synchronize, once") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    s.refuse(s.receive(), ErrorCode::resource_exhausted, "the session's limit is 1 MiB");
    for (int i = 0; i < 2; ++i) s.answer(s.receive(), rpc::Empty{});
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  client.post(rpc::Alloc{1, 1u << 30, 0});
  const Error error = error_of([&] { client.synchronize(); });
  CHECK(error.code() == ErrorCode::resource_exhausted);
  client.synchronize();
}

TEST_CASE("after a crash every request says why the session is over") {
  const std::string why = "kernel 'mm' ended with SIGSEGV after 0.2 ms";
  ScriptedServer server([&](ScriptedServer& s) {
    s.welcome();
    s.refuse(s.receive(), ErrorCode::kernel_crashed, why);
  });
  Client client(server.client_end(), "board:9090");
  const Error first = error_of([&] { client.call(rpc::Call{}); });
  CHECK(first.code() == ErrorCode::kernel_crashed);
  const Error second = error_of([&] { client.call(rpc::Ping{}); });
  CHECK(second.code() == ErrorCode::kernel_crashed);
  CHECK(second.what() == why);
  CHECK(!client.is_open());
}

TEST_CASE("the limit that ended a session is known, also of servers that name it only in their message") {
  struct Ended {
    std::optional<TimeLimit> limit;
    double running = -1;
  };
  const auto end_of = [](std::optional<rpc::LimitEvent> event, const std::string& message) {
    ScriptedServer server([&](ScriptedServer& s) {
      s.welcome();
      const Request request = s.receive();
      if (event) {
        const std::vector<std::uint8_t> frame = rpc::event_frame(rpc::EventTag::limit, *event);
        const ByteSpan pieces[] = {frame};
        (void)s.connection().transport().send(pieces);
      }
      s.refuse(request, ErrorCode::deadline_exceeded, message);
    });
    Client client(server.client_end(), "board:9090");
    try {
      client.call(rpc::Call{});
    } catch (const LimitExceeded& error) {
      CHECK(error.code() == ErrorCode::deadline_exceeded);
      CHECK(error.what() == message);
      return Ended{error.limit(), error.running()};
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::deadline_exceeded);
    }
    return Ended{};
  };
  const std::string session = "mm was stopped after 4.0 s: the limit of a session is 4.0 s";
  const Ended told = end_of(rpc::LimitEvent{1, TimeLimit::session, 4000, 3000}, session);
  CHECK(told.limit == TimeLimit::session);
  CHECK(told.running == 0.75);
  // What a server says is not trusted to be a share.
  CHECK(end_of(rpc::LimitEvent{1, TimeLimit::session, 0, UINT64_MAX}, session).running == 1);
  CHECK_FALSE(end_of({}, session).limit);
  CHECK(end_of({}, "mm was stopped after 0.3 s: the limit of a call is 0.3 s").limit == TimeLimit::call);
}

TEST_CASE("a request under way when the peer vanishes fails and names the peer") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  const Error error = error_of([&] { client.send(rpc::Ping{}).get(); });
  CHECK(error.code() == ErrorCode::unavailable);
  CHECK(std::string(error.what()) == "the connection to board:9090 is gone: the peer closed the connection");
}

TEST_CASE("an answer to another request is a protocol error") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    Request request = s.receive();
    request.header.request += 1;
    s.answer(request, rpc::Empty{});
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  const Error error = error_of([&] { client.call(rpc::Ping{}); });
  CHECK(error.code() == ErrorCode::protocol_error);
  CHECK(std::string(error.what()) == "board:9090: expected the answer to request 2, got request 3");
}

TEST_CASE("an answer with a length of 2^63 is refused before memory is taken for it") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    rpc::FrameHeader header{rpc::FrameKind::response, static_cast<std::uint16_t>(rpc::Tag::Read)};
    header.request = s.receive().header.request;
    header.payload_bytes = std::uint64_t{1} << 63;
    const auto head = rpc::encode_frame_header(header);
    const ByteSpan pieces[] = {head};
    (void)s.connection().transport().send(pieces);
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  std::vector<std::uint8_t> into(4);
  const Error error = error_of([&] { client.send(rpc::Read{1, 0, 4}, {}, into).get(); });
  CHECK(error.code() == ErrorCode::protocol_error);
  CHECK(std::string(error.what()) ==
        "board:9090: frame header: expected a payload of at most 9223372036854775807, got 9223372036854775808");
  CHECK(!client.is_open());
}

TEST_CASE("payloads travel both ways without a copy of the client's") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    const Request write = s.receive();
    s.answer(write, rpc::Empty{});
    s.answer(s.receive(), rpc::Empty{}, write.payload);
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  std::vector<std::uint8_t> sent(3'000'000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(i * 7);
  client.post(rpc::Write{1, 0}, sent);
  std::vector<std::uint8_t> received(sent.size());
  client.send(rpc::Read{1, 0, sent.size()}, {}, received).get();
  CHECK(received == sent);
}

TEST_CASE("an answer with fewer bytes than were asked for is refused") {
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    const std::vector<std::uint8_t> three(3);
    s.answer(s.receive(), rpc::Empty{}, three);
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  std::vector<std::uint8_t> into(4);
  const Error error = error_of([&] { client.send(rpc::Read{1, 0, 4}, {}, into).get(); });
  CHECK(error.code() == ErrorCode::protocol_error);
  CHECK(std::string(error.what()) == "board:9090: read: expected 4 bytes, got 3");
}

TEST_CASE("a large write does not deadlock with a large answer under way") {
  constexpr std::size_t kBytes = 8u << 20;
  ScriptedServer server([](ScriptedServer& s) {
    s.welcome();
    const std::vector<std::uint8_t> content(kBytes, 42);
    s.answer(s.receive(), rpc::Empty{}, content);
    s.answer(s.receive(), rpc::Empty{});
    s.receive();
  });
  Client client(server.client_end(), "board:9090");
  std::vector<std::uint8_t> into(kBytes), from(kBytes);
  auto read = client.send(rpc::Read{1, 0, kBytes}, {}, into);
  auto write = client.send(rpc::Write{2, 0}, from);
  write.get();
  read.get();
  CHECK(into.back() == 42);
}
