#include "device-runtime/supervisor/memory_killer.h"

#include <fcntl.h>
#include <unistd.h>

#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

constexpr const char* kScore = "/proc/self/oom_score_adj";
constexpr const char* kSessionScore = "500";

}  // namespace

MemoryKiller::MemoryKiller() : file_(open(kScore, O_WRONLY | O_CLOEXEC)), own_(read_small_file(kScore)) {}

pid_t MemoryKiller::fork_session() const {
  const bool is_set = !own_.empty() && set(kSessionScore);
  const pid_t child = fork();
  if (child != 0 && is_set) set(own_);
  return child;
}

bool MemoryKiller::set(const std::string& score) const {
  return write(file_.number(), score.data(), score.size()) == static_cast<ssize_t>(score.size());
}

}  // namespace ferry::device
