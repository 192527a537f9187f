#include "device-runtime/supervisor/cleaners.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "device-runtime/sandbox/sandbox.h"
#include "device-runtime/supervisor/close_descriptors.h"

namespace ferry::device {

void Cleaners::start(const std::string& folder) {
  if (folder.empty() || rmdir(folder.c_str()) == 0 || errno == ENOENT) return;
  const pid_t process = fork();
  if (process == 0) {
    close_descriptors_but(-1);
    remove_tree(folder);
    _exit(0);
  }
  if (process > 0) processes_.push_back(process);
}

void Cleaners::reap() {
  const auto done = std::remove_if(processes_.begin(), processes_.end(),
                                   [](pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; });
  processes_.erase(done, processes_.end());
}

}  // namespace ferry::device
