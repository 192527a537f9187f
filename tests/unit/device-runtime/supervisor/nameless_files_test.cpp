// Tests what is found of deleted files, with processes that hold one in every way in which a session can.
#include "device-runtime/supervisor/nameless_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "device-runtime/sandbox/capabilities.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kEverything = UINT64_MAX;

int deleted_file() {
  char pattern[] = "/tmp/ferry-nameless-XXXXXX";
  const int file = mkostemp(pattern, O_CLOEXEC);
  unlink(pattern);
  const std::string text(kMiB, 'x');
  if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
  return file;
}

[[noreturn]] void wait_for_signal() {
  while (true) pause();
}

// A process with a session of its own, in which a file is held.
class Holder {
 public:
  // `hold` calls its argument once the file is held, and then waits.
  explicit Holder(const std::function<void(const std::function<void()>&)>& hold) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      setsid();
      hold([&] { (void)!write(ends[1], "!", 1); });
      wait_for_signal();
    }
    close(ends[1]);
    char one = 0;
    CHECK(read(ends[0], &one, 1) == 1);
    close(ends[0]);
  }
  ~Holder() {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  std::uint64_t bytes() const { return all_nameless_bytes(process_, kEverything); }

 private:
  pid_t process_ = -1;
};

TEST_CASE("a deleted file that is open, twice and mapped, is counted once") {
  const Holder holder([](const std::function<void()>& done) {
    const int file = deleted_file();
    dup(file);
    mmap(nullptr, kMiB, PROT_READ, MAP_PRIVATE, file, 0);
    deleted_file();
    done();
  });
  CHECK(holder.bytes() == 2 * kMiB);
}

TEST_CASE("a deleted file that is only mapped is counted, as large as it is") {
  if (!may_see_mapped_files()) {
    MESSAGE("skipped: this process may not see what others have mapped");
    return;
  }
  const Holder holder([](const std::function<void()>& done) {
    const int file = deleted_file();
    mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    done();
  });
  CHECK(holder.bytes() == kMiB);
}

TEST_CASE("a deleted file that another process of the session holds is counted") {
  const Holder holder([](const std::function<void()>& done) {
    if (fork() != 0) return;
    deleted_file();
    done();
  });
  CHECK(holder.bytes() == kMiB);
}

TEST_CASE("a deleted file that a thread with descriptors of its own holds is counted") {
  const Holder holder([](const std::function<void()>& done) {
    std::thread([done] {
      if (unshare(CLONE_FILES) != 0) _exit(1);
      deleted_file();
      done();
      wait_for_signal();
    }).detach();
    wait_for_signal();
  });
  CHECK(holder.bytes() == kMiB);
}

}  // namespace
}  // namespace ferry::device
