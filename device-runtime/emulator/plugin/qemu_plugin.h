// The part of qemu's plugin API that is used here, in version 1 (qemu 4.2 to 8.2). Debian has no package with qemu's
// own header. Source: qemu's documentation, "QEMU TCG Plugins".
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;

struct qemu_plugin_tb;    // a translated block, which is always entered at its start
struct qemu_plugin_insn;  // an instruction of a block while that is translated

// The beginning of the struct that qemu_plugin_install() is given.
struct qemu_plugin_info_t {
  const char* target_name;  // "aarch64", "arm", "riscv64", "x86_64", ...
  struct {
    int min, cur;
  } version;
  bool system_emulation;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };

using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu_index, void* userdata);
using qemu_plugin_vcpu_syscall_cb_t = void (*)(qemu_plugin_id_t, unsigned vcpu_index, std::int64_t number,
                                               std::uint64_t a1, std::uint64_t a2, std::uint64_t a3, std::uint64_t a4,
                                               std::uint64_t a5, std::uint64_t a6, std::uint64_t a7, std::uint64_t a8);

// Calls back whenever qemu translates a block.
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t index);
const void* qemu_plugin_insn_data(const qemu_plugin_insn*);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
// Calls back whenever a thread enters the block.
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, qemu_plugin_vcpu_udata_cb_t, qemu_plugin_cb_flags,
                                          void* userdata);
// Calls back before each system call of qemu-user, which cannot be changed.
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_plugin_vcpu_syscall_cb_t);

// The symbols that a plugin defines.
extern __attribute__((visibility("default"))) int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t, const qemu_plugin_info_t*, int argc,
                                                               char** argv);
}
