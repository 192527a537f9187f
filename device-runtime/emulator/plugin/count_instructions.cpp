// A plugin for qemu-user that counts the instructions of each process, and tells the process on request:
//
//     qemu-aarch64 -plugin libferry_instructions.so rpc_server ...
//     qemu-aarch64 -plugin libferry_instructions.so,blocks=FILE program ...
//
// With a file, each request also writes the blocks to it that were executed since the one before (block_counts.h). That
// is for programs of one process: each process writes to the same file.
//
// Each thread counts for itself when it enters a translated block, so nothing is lost between threads. A block that
// faults in the middle counts as a whole. A forked process goes on from the counts of its parent, in memory of its own.
//
// What the program says is not trusted. It names only a descriptor, which it could also write to itself.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "device-runtime/emulator/count_request.h"
#include "device-runtime/emulator/plugin/block_counts.h"
#include "device-runtime/emulator/plugin/qemu_plugin.h"

int qemu_plugin_version = 1;

namespace {

// Threads beyond these share the last count. qemu gives the numbers of threads that ended to new ones.
constexpr std::size_t kThreads = 1024;

struct alignas(64) ThreadCount {
  std::atomic<std::uint64_t> instructions{0};
};
ThreadCount counts[kThreads + 1];

std::int64_t request_number = -1;
const char* blocks_file = nullptr;  // null unless blocks are counted

void count_block(unsigned thread, void* instructions) {
  const auto more = reinterpret_cast<std::uintptr_t>(instructions);
  if (thread >= kThreads) {
    counts[kThreads].instructions.fetch_add(more, std::memory_order_relaxed);
    return;
  }
  // No other thread writes here, so the addition need not be atomic.
  std::atomic<std::uint64_t>& count = counts[thread].instructions;
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

void count_entry(unsigned, void* block) { ferry::emulator::enter(*static_cast<ferry::emulator::CountedBlock*>(block)); }

void translate(qemu_plugin_id_t, qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_cb(block, count_block, QEMU_PLUGIN_CB_NO_REGS,
                                       reinterpret_cast<void*>(qemu_plugin_tb_n_insns(block)));
  if (blocks_file == nullptr) return;
  if (ferry::emulator::CountedBlock* counted = ferry::emulator::add_block(block))
    qemu_plugin_register_vcpu_tb_exec_cb(block, count_entry, QEMU_PLUGIN_CB_NO_REGS, counted);
}

// Arguments of 32-bit programs arrive with their sign extended.
bool is_request(std::uint64_t argument) { return static_cast<std::uint32_t>(argument) == ferry::device::kCountRequest; }

void answer(qemu_plugin_id_t, unsigned, std::int64_t number, std::uint64_t attributes, std::uint64_t file,
            std::uint64_t processor, std::uint64_t, std::uint64_t flags, std::uint64_t, std::uint64_t, std::uint64_t) {
  if (number != request_number || !is_request(attributes) || !is_request(processor) || !is_request(flags)) return;
  std::uint64_t sum = 0;
  for (const ThreadCount& count : counts) sum += count.instructions.load(std::memory_order_relaxed);
  [[maybe_unused]] const ssize_t written = write(static_cast<int>(file), &sum, sizeof sum);
  if (blocks_file != nullptr && !ferry::emulator::write_blocks(blocks_file))
    std::fprintf(stderr, "libferry_instructions: cannot write '%s': %s\n", blocks_file, std::strerror(errno));
}

// Returns the number of perf_event_open, or -1 for targets on which rpc_server does not run.
std::int64_t request_number_of(const char* target) {
  constexpr struct {
    const char* target;
    std::int64_t number;
  } kNumbers[] = {{"aarch64", 241}, {"arm", 364}, {"riscv64", 241}, {"x86_64", 298}};
  for (const auto& known : kNumbers) {
    if (std::strcmp(target, known.target) == 0) return known.number;
  }
  return -1;
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_plugin_info_t* info, int argc, char** argv) {
  request_number = request_number_of(info->target_name);
  if (info->system_emulation || request_number < 0) {
    std::fprintf(stderr,
                 "libferry_instructions: expected qemu-aarch64, qemu-arm, qemu-riscv64 or qemu-x86_64, got %s%s\n",
                 info->system_emulation ? "qemu-system-" : "qemu-", info->target_name);
    return 1;
  }
  constexpr char kBlocks[] = "blocks=";
  for (int i = 0; i < argc; ++i) {
    if (std::strncmp(argv[i], kBlocks, sizeof kBlocks - 1) == 0 && argv[i][sizeof kBlocks - 1] != 0) {
      blocks_file = strdup(argv[i] + sizeof kBlocks - 1);
      continue;
    }
    std::fprintf(stderr, "libferry_instructions: expected blocks=FILE or no argument, got '%s'\n", argv[i]);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, answer);
  return 0;
}
