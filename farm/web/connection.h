// A connection with a client, each of whose operations has a time limit. However many connections are silent or slow,
// they cost no thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/descriptor.h"
#include "farm/web/request_parser.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm::http {

// The callbacks run on the loop, once each, and may destroy the connection.
class Connection {
 public:
  // `socket` is non-blocking.
  Connection(server::EventLoop& loop, Descriptor socket);

  // Calls then() once parser() has a whole request or refuses it, be it because `limit` is over; gone() if the client
  // closes the connection before.
  void receive(std::chrono::milliseconds limit, server::Callback then, server::Callback gone);
  // Calls then(whether the system has taken all of the text within `limit`).
  void send(std::string text, std::chrono::milliseconds limit, std::function<void(bool)> then);
  // Drops what arrives. Calls then() once the client has closed the connection or has sent kMostDropped bytes.
  void drop_input(server::Callback then);
  // Says that nothing follows, and drops input for kFarewell at most. Closing at once would make the system send a
  // reset, which can take the response away from a client that has not read it yet.
  void finish(server::Callback then);

  RequestParser& parser() { return parser_; }
  int socket() const { return socket_.number(); }
  bool has_input() const;

  static constexpr std::chrono::milliseconds kFarewell{500};
  static constexpr std::size_t kMostDropped = 256 << 10;

 private:
  void read_request();
  void write_some();
  void sent(bool is_all);

  server::WatchedDescriptor socket_;
  server::Timer read_timer_, write_timer_;
  RequestParser parser_;
  server::Callback then_, gone_;  // what ends the operation that reads
  std::size_t dropped_ = 0;
  std::string output_;
  std::size_t written_ = 0;
  std::function<void(bool)> sent_;
};

}  // namespace ferry::farm::http
