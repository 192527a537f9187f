#include "device-runtime/session/crash_handler.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <new>

using namespace ferry;
using namespace ferry::device;

TEST_CASE("a crash does not end the session while another thread still records the first one") {
  void* memory = mmap(nullptr, sizeof(Activity), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* activity = new (memory) Activity;
  activity->crash.taken = 1;  // as the first thread leaves it while it writes the rest
  const pid_t session = fork();
  if (session == 0) {
    note_crashes(*activity);
    raise(SIGSEGV);
    _exit(0);
  }
  const timespec while_it_writes = {0, 100'000'000};
  nanosleep(&while_it_writes, nullptr);
  int status = 0;
  CHECK(waitpid(session, &status, WNOHANG) == 0);
  activity->crash.signal = SIGSEGV;
  REQUIRE(waitpid(session, &status, 0) == session);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
  munmap(memory, sizeof(Activity));
}
