// A program of the user's that reads and writes lines.
#pragma once

#include "base/descriptor.h"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ferry::tune {

struct LineLimits {
  std::size_t line_bytes = std::size_t{1} << 20;     // the longest line that the program may write
  std::size_t unread_bytes = std::size_t{16} << 20;  // it may leave so many unread
};

class ChildProcess {
 public:
  // Takes a line without its end, on a thread of the object's own. Throws Error for a line that is wrong, which ends
  // the exchange.
  using OnLine = std::function<void(std::string_view line)>;

  // Starts the command with the shell, in a group of its own; its standard error stays that of this process. Throws
  // Error with resource_exhausted if that cannot be done.
  explicit ChildProcess(const std::string& command, LineLimits limits = {});
  // Closes the program's input, and ends it and its group if it goes on for more than a second.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Begins to exchange lines, once. `on_end` is called on the same thread as `on_line` when the exchange has ended, for
  // whatever reason but the end of this object.
  void start(OnLine on_line, std::function<void()> on_end);
  // Sends a line. Never waits.
  void send(std::string line);
  // Whether the program has closed its output, has failed, or has written something wrong.
  bool has_ended();
  // Returns why it ended: empty if it closed its output or left with status 0, or still runs.
  std::string failure();

 private:
  void exchange();
  bool read_lines();
  void write_lines();
  void end(const std::string& failure);
  std::string wait_for_end();

  OnLine on_line_;
  std::function<void()> on_end_;
  LineLimits limits_;
  pid_t pid_ = -1;             // -1: reaped
  Descriptor input_, output_;  // ends of its pipes
  Descriptor woken_;           // an eventfd: there is something to send, or to end
  std::string received_;       // a line's beginning
  std::size_t line_ = 0;       // lines received
  std::mutex mutex_;
  std::string unsent_;
  bool must_end_ = false, has_ended_ = false;
  bool is_deaf_ = false;  // the program has closed its input
  std::string failure_;
  std::thread thread_;
};

}  // namespace ferry::tune
