#include "host/text/output.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

namespace ferry::text {

namespace {

// Whether the reader of a pipe or socket has closed it.
bool reader_is_gone() {
  pollfd entry{STDOUT_FILENO, POLLOUT, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

bool output_is_written() {
  // Only the stream records earlier failures: a later flush has nothing left to write, and succeeds.
  const bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
  return !failed || reader_is_gone();
}

}  // namespace ferry::text
