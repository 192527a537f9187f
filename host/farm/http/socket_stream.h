// A connection as the library's stream, with deadlines for whole requests and responses instead of single reads.
#pragma once

#include <httplib.h>

#include <chrono>
#include <string>

#include "base/descriptor.h"

namespace ferry::farm::http {

class SocketStream : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  // The socket is non-blocking; `ahead` was read from it already. All that is read must have arrived by
  // `read_deadline`; each write has `write_limit`.
  SocketStream(int socket, std::string peer, Clock::time_point read_deadline, std::chrono::milliseconds write_limit,
               std::string ahead = {})
      : socket_(socket),
        peer_(std::move(peer)),
        read_deadline_(read_deadline),
        write_limit_(write_limit),
        ahead_(std::move(ahead)) {}

  // Reads up to the empty line that ends a head. Returns false after the deadline or the limit, or if the peer has
  // gone.
  enum class HeadEnd { complete, too_large, timed_out, gone };
  HeadEnd read_head(std::string& head);
  // The library reads `head` first, then at most `body_bytes` of the connection.
  void replay(std::string head, std::size_t body_bytes);

  // Whether the peer may have sent what nobody has read. Closing the connection would reset it.
  bool has_unread() const { return ahead_at_ < ahead_.size() || body_left_ > 0; }
  // Reads what the peer still sends, for a short time, so that it sees the response before a reset.
  void drain();

  bool is_readable() const override { return true; }
  bool is_writable() const override;  // false once the peer has closed the connection
  ssize_t read(char* bytes, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  // The library uses the number only to refuse those that select() cannot handle, which does not concern us.
  socket_t socket() const override { return 0; }

 private:
  // Waits; false after the deadline.
  bool wait_for(short events, Clock::time_point deadline) const;
  ssize_t receive(char* bytes, std::size_t size, Clock::time_point deadline);

  int socket_;
  std::string peer_;
  Clock::time_point read_deadline_;
  std::chrono::milliseconds write_limit_;
  std::string ahead_;  // read, but not given to the library yet
  std::size_t ahead_at_ = 0;
  std::size_t body_left_ = 0;
};

}  // namespace ferry::farm::http
