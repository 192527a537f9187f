#include "device-runtime/sandbox/filter.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/seccomp_program.h"

namespace ferry::device {
namespace {

enum class Rule : std::uint8_t {
  allow,
  refuse,          // EPERM
  missing,         // ENOSYS: the caller then uses an older call whose arguments can be checked
  own_process,     // the first argument is the own process
  thread_only,     // the flags in the first argument create a thread that shares everything
  only_read,       // the third argument, a new value, is null
  local_socket,    // the first argument is AF_UNIX
  itself,          // the first argument is 0, the calling thread
  own_counter,     // the second argument, of perf_event_open, is 0, the calling thread
  file_command,    // the second argument, of fcntl, only reads or copies the descriptor
  receiver_kept,   // the same, does not set the receiver of signals
  device_command,  // the second argument, of ioctl, controls a counter or a runner, or asks whether there is a terminal
  terminal_kept,   // the same, neither sets the receiver of signals nor inserts terminal input
  own_memory,      // the flags of mmap, the fourth argument, select memory counted by RLIMIT_DATA
  process_option,  // the first argument, of prctl, names a thread or memory, or asks what holds
  parent_kept,     // the same, changes neither the parent-death signal nor who may inspect the process
};

struct Entry {
  std::uint32_t number;
  Rule strict, gpu;
};

#define FERRY_CALL(name, strict, gpu) {__NR_##name, Rule::strict, Rule::gpu},
#define FERRY_ARM_CALL(name) {__ARM_NR_##name, Rule::allow, Rule::allow},
constexpr auto kEntries = [] {
  auto entries = std::to_array<Entry>({
#include "device-runtime/sandbox/system_calls.def"
  });
  std::ranges::sort(entries, {}, &Entry::number);
  return entries;
}();
#undef FERRY_CALL
#undef FERRY_ARM_CALL

// A list of all calls would be slow to install: the kernel runs the filter once for each number that a call may have.
constexpr std::size_t kBlockEntries = 8;

using Program = SeccompProgram<24 + 10 * kEntries.size()>;
constexpr std::uint32_t kAllow = Program::kAllow, kRefuse = Program::kRefuse;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t kUnlisted = kAllow;  // the sanitizers' own calls are many
#else
constexpr std::uint32_t kUnlisted = Program::kMissing;
#endif

constexpr std::uint32_t kFileCommands[] = {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC};
constexpr std::uint32_t kReceiverCommands[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX};
constexpr std::uint32_t kDeviceCommands[] = {PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, SECCOMP_IOCTL_NOTIF_RECV,
                                             SECCOMP_IOCTL_NOTIF_SEND, TCGETS};
constexpr std::uint32_t kTerminalCommands[] = {FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX};
constexpr std::uint32_t kProcessOptions[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
                                             0x53564d41};  // PR_SET_VMA, which names memory
// A runner that may be traced lets its zygote look into it for a moment, and takes that back.
constexpr std::uint32_t kRunnerOptions[] = {PR_SET_NAME,     PR_GET_NAME,         PR_GET_DUMPABLE,
                                            PR_SET_DUMPABLE, PR_GET_NO_NEW_PRIVS, 0x53564d41};
constexpr std::uint32_t kParentOptions[] = {PR_SET_PDEATHSIG, PR_SET_DUMPABLE};
constexpr std::uint32_t kMapShared = 1, kMapAnonymous = 0x20, kMapGrowsDown = 0x100;
// A thread with a table of descriptors of its own would hide what it has open.
constexpr std::uint32_t kThreadFlags = CLONE_THREAD | CLONE_FILES;

void add_entry(Program& program, std::uint32_t number, Rule rule, std::uint32_t own) {
  const auto equals = [&](unsigned at, std::uint32_t value) {
    program.answer_by_value(number, at, std::span(&value, 1), kAllow, kRefuse);
  };
  switch (rule) {
    case Rule::own_process: return equals(0, own);
    case Rule::local_socket: return equals(0, AF_UNIX);
    case Rule::itself: return equals(0, 0);
    case Rule::own_counter: return equals(1, 0);
    case Rule::file_command: return program.answer_by_value(number, 1, kFileCommands, kAllow, kRefuse);
    case Rule::receiver_kept: return program.answer_by_value(number, 1, kReceiverCommands, kRefuse, kAllow);
    case Rule::device_command: return program.answer_by_value(number, 1, kDeviceCommands, kAllow, kRefuse);
    case Rule::terminal_kept: return program.answer_by_value(number, 1, kTerminalCommands, kRefuse, kAllow);
    case Rule::process_option: return program.answer_by_value(number, 0, kProcessOptions, kAllow, kRefuse);
    case Rule::parent_kept: return program.answer_by_value(number, 0, kParentOptions, kRefuse, kAllow);
    case Rule::thread_only:
      program.skip(BPF_JEQ, number, 0, 5);
      program.load(Program::argument(0));
      program.mask(kThreadFlags);
      program.skip(BPF_JEQ, kThreadFlags, 0, 1);
      program.answer(kAllow);
      return program.answer(kRefuse);
    case Rule::own_memory:
      // Automatically growing stacks are counted by another limit, and anonymous shared memory by none.
      program.skip(BPF_JEQ, number, 0, 6);
      program.load(Program::argument(3));
      program.skip(BPF_JSET, kMapGrowsDown, 3, 0);
      program.skip(BPF_JSET, kMapAnonymous, 0, 1);
      program.skip(BPF_JSET, kMapShared, 1, 0);
      program.answer(kAllow);
      return program.answer(kRefuse);
    case Rule::only_read:
      program.skip(BPF_JEQ, number, 0, 6);
      program.load(Program::argument(2));
      program.skip(BPF_JEQ, 0, 0, 3);
      program.load(Program::argument(2, true));
      program.skip(BPF_JEQ, 0, 0, 1);
      program.answer(kAllow);
      return program.answer(kRefuse);
    case Rule::allow:
    case Rule::refuse:
    case Rule::missing:
      return program.answer_call(number, rule == Rule::allow    ? kAllow
                                         : rule == Rule::refuse ? kRefuse
                                                                : Program::kMissing);
  }
}

}  // namespace

std::string install_filter(Filter filter) {
  Program program;
  const bool is_gpu = filter == Filter::gpu;
  const auto rule_of = [is_gpu](const Entry& entry) { return is_gpu ? entry.gpu : entry.strict; };
  const Rule default_rule = is_gpu || kUnlisted == kAllow ? Rule::allow : Rule::missing;
  std::array<Entry, kEntries.size()> listed{};
  const auto end = std::ranges::copy_if(kEntries, listed.begin(), [&](const Entry& entry) {
                     return rule_of(entry) != default_rule;
                   }).out;
  const auto own = static_cast<std::uint32_t>(getpid());
  const std::uint32_t unlisted = is_gpu ? kAllow : kUnlisted;
  if (filter == Filter::runner) {
    program.answer_call(__NR_seccomp, kAllow);
    program.answer_by_value(__NR_prctl, 0, kRunnerOptions, kAllow, kRefuse);
  }
  for (std::size_t i = 0, count = end - listed.begin(); i < count; i += kBlockEntries) {
    const std::size_t next = std::min(i + kBlockEntries, count);
    const auto block = next < count ? program.begin_block(listed[next].number) : 0;
    for (std::size_t k = i; k < next; ++k) add_entry(program, listed[k].number, rule_of(listed[k]), own);
    program.answer(unlisted);
    if (next < count) program.end_block(block);
  }
  // Without this flag, kernels before 5.16 enable mitigations that slow down the measured code.
  if (program.install(SECCOMP_FILTER_FLAG_SPEC_ALLOW) || program.install(0)) return {};
  return std::strerror(errno);
}

}  // namespace ferry::device
