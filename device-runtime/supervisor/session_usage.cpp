#include "device-runtime/supervisor/session_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"
#include "device-runtime/supervisor/background.h"
#include "device-runtime/supervisor/child_process.h"

namespace ferry::device {
namespace {

constexpr long kTmpfs = 0x01021994;
constexpr long kRamfs = static_cast<long>(0x858458f6);
constexpr std::uint64_t kBlockBytes = 512;  // unit of st_blocks
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

enum Verdict : int { kFine = 0, kTooManyBytes = 1, kTooManyFiles = 2, kUnreadable = 3 };

struct Count {
  std::uint64_t bytes = 0;
  std::uint64_t most = 0;
  std::size_t files = 0;
};

std::uint64_t bytes_of(const struct stat& info) { return static_cast<std::uint64_t>(info.st_blocks) * kBlockBytes; }

// Takes ownership of the descriptor. Files that vanish during the count are ignored.
Verdict count_folder(int folder, Count& count) {
  DIR* entries = folder < 0 ? nullptr : fdopendir(folder);
  if (entries == nullptr) {
    const bool gone = folder < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (folder >= 0) close(folder);
    return gone ? kFine : kUnreadable;
  }
  Verdict verdict = kFine;
  while (const dirent* entry = verdict == kFine ? readdir(entries) : nullptr) {
    struct stat info{};
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    if (fstatat(dirfd(entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    // The size is divided by the number of links, so a file whose names are all here is counted once.
    count.bytes += S_ISDIR(info.st_mode) ? bytes_of(info) : bytes_of(info) / std::max<std::uint64_t>(info.st_nlink, 1);
    if (count.bytes > count.most) verdict = kTooManyBytes;
    if (++count.files > kMaxSessionFiles) verdict = kTooManyFiles;
    if (verdict == kFine && S_ISDIR(info.st_mode)) {
      constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
      verdict = count_folder(openat(dirfd(entries), entry->d_name, kFolder), count);
    }
  }
  closedir(entries);
  return verdict;
}

bool is_empty(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return errno == ENOENT;
  std::size_t entries = 0;
  while (entries <= 2 && readdir(folder) != nullptr) ++entries;
  closedir(folder);
  return entries <= 2;  // "." and ".."
}

struct ProcessState {
  // Its own memory and that of memory-backed files, without pages that the system can read again from a disk.
  std::uint64_t memory = 0;
  std::uint64_t page_tables = 0;
  bool is_headless = false;
};

ProcessState state_of(pid_t process) {
  ProcessState state;
  bool has_ended = false;
  const std::string text = read_small_file(format("/proc/%d/status", process).c_str());
  for_each_field(text, [&](std::string_view key, std::string_view line) {
    const std::string_view value = field_value(line);
    if (key == "RssAnon" || key == "RssShmem" || key == "HugetlbPages") state.memory += parse_size(value).value_or(0);
    if (key == "VmPTE") state.page_tables = parse_size(value).value_or(0);
    if (key == "State") has_ended = value.substr(0, 1) == "Z";
    if (key == "Threads") state.is_headless = has_ended && value != "1";
  });
  return state;
}

FileIdentity identity_of(int descriptor) {
  struct stat info{};
  if (descriptor < 0 || fstat(descriptor, &info) != 0) return {};
  return {std::uint64_t{info.st_dev}, std::uint64_t{info.st_ino}};
}

// Returns the bytes of open files that have been deleted, without one of them.
std::uint64_t open_nameless_bytes(pid_t process, const FileIdentity& but) {
  DIR* descriptors = opendir(format("/proc/%d/fd", process).c_str());
  if (descriptors == nullptr) return 0;
  std::uint64_t bytes = 0;
  while (const dirent* entry = readdir(descriptors)) {
    // Uses what the system has cached: a file server may not answer.
    struct statx info{};
    constexpr unsigned kAsked = STATX_TYPE | STATX_NLINK | STATX_BLOCKS | STATX_INO;
    if (statx(dirfd(descriptors), entry->d_name, AT_STATX_DONT_SYNC, kAsked, &info) != 0) continue;
    const FileIdentity file{makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino};
    if (S_ISREG(info.stx_mode) && info.stx_nlink == 0 && file != but) bytes += info.stx_blocks * kBlockBytes;
  }
  closedir(descriptors);
  return bytes;
}

// Returns whether the process has this limit. It does not under an emulator, whose own memory would count, nor before
// the session is confined.
bool has_limit(pid_t process, std::uint64_t bytes) {
  rlimit data{};
  return bytes != 0 && prlimit(process, RLIMIT_DATA, nullptr, &data) == 0 && data.rlim_cur <= bytes;
}

// Returns the limit that is monitored in addition to being set for the process.
std::uint64_t watched_memory([[maybe_unused]] const SandboxOptions& sandbox) {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#else
  return sandbox.filter == Filter::gpu ? 0 : all_memory(sandbox);
#endif
}

Status too_much(const char* what, std::uint64_t limit, const char* hint) {
  return {ErrorCode::resource_exhausted, format("the session was stopped: %s, expected at most %llu MiB%s", what,
                                                static_cast<unsigned long long>(limit / kMiB), hint)};
}

}  // namespace

bool is_memory(const std::string& path) {
  struct statfs info{};
  if (path.empty() || statfs(path.c_str(), &info) != 0) return false;
  return static_cast<long>(info.f_type) == kTmpfs || static_cast<long>(info.f_type) == kRamfs;
}

std::optional<std::int64_t> processor_time_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

SessionUsage::SessionUsage(pid_t process, const SandboxOptions& sandbox, int shared)
    : process_(process),
      folder_(sandbox.folder),
      memory_limit_(watched_memory(sandbox)),
      files_are_memory_(is_memory(folder_)),
      gpu_nameless_bytes_(sandbox.filter == Filter::gpu ? sandbox.nameless_bytes : nullptr),
      shared_(identity_of(shared)) {}

SessionUsage::~SessionUsage() {
  if (counter_ == 0) return;
  kill(counter_, SIGKILL);
  while (waitpid(counter_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status SessionUsage::check() {
  std::uint64_t most = kMaxSessionFileBytes;
  const ProcessState state = state_of(process_);
  is_headless_ = state.is_headless;
  if (has_limit(process_, memory_limit_)) {
    // Twice as much as the page tables of all its memory.
    const std::uint64_t free_tables = memory_limit_ / 256;
    const std::uint64_t memory = state.memory + state.page_tables - std::min(state.page_tables, free_tables);
    if (memory > memory_limit_) {
      return too_much("it holds more memory than it may, that of files and of page tables included", memory_limit_,
                      " (rpc_server --memory-limit)");
    }
    if (files_are_memory_) most = std::min(most, memory_limit_ - memory);
  }
  return check_files(most);
}

Status SessionUsage::check_files(std::uint64_t most) {
  // Other sessions have neither mapped files nor other processes, nor descriptors that belong to one thread.
  const bool is_gpu = gpu_nameless_bytes_ != nullptr;
  std::uint64_t nameless = is_gpu ? 0 : open_nameless_bytes(process_, shared_);
  if (nameless > most) return judge(kTooManyBytes);
  if (counter_ != 0) {
    int status = 0;
    if (waitpid(counter_, &status, WNOHANG) != counter_) return {};
    counter_ = 0;
    return WIFEXITED(status) ? judge(WEXITSTATUS(status)) : Status();
  }
  if (!is_gpu && (folder_.empty() || is_empty(folder_))) return {};
  const pid_t counter = fork();
  if (counter > 0) counter_ = counter;
  if (counter != 0) return {};
  // First of all, as in Cleaners::start().
  close_descriptors_but({});
  begin_background();
  give_way(getpid());
  if (is_gpu) nameless = gpu_nameless_bytes_(process_, most);
  if (nameless > most) _exit(kTooManyBytes);
  Count count{0, most - nameless, 0};
  _exit(count_folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), count));
}

Status SessionUsage::judge(int exit_status) const {
  switch (exit_status) {
    case kTooManyBytes:
      return too_much("its files hold more than they may all together", kMaxSessionFileBytes,
                      files_are_memory_ ? ", and less where they lie in memory that it needs itself" : "");
    case kTooManyFiles:
      return {ErrorCode::resource_exhausted,
              format("the session was stopped: it made more than %zu files and folders", kMaxSessionFiles)};
    case kUnreadable:
      return {ErrorCode::resource_exhausted,
              "the session was stopped: it made folders that nobody can look into, or too deep ones"};
    default: return {};
  }
}

}  // namespace ferry::device
