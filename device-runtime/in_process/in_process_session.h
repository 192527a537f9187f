// A session in the process of its client, with the server's handlers, loader and executor. Requests are handled as they
// are sent, on the thread that sends them, and calls need no requests at all. Nothing protects the process: a kernel
// that crashes takes it along.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device-runtime/device/cpu_device.h"
#include "device-runtime/plan/plan_call.h"
#include "device-runtime/session/state/session_state.h"
#include "rpc/messages.h"
#include "rpc/transport/transport.h"

namespace ferry::device {

// An argument of a call that needs no request: a number, or memory of this process.
struct InProcessArgument {
  ArgumentShape shape;
  void* memory = nullptr;         // tensors: dense, and aligned as the module's code expects
  std::uint64_t scalar_bits = 0;  // little-endian, in the low bytes
};

// A call that is bound once for arguments of certain sizes. Its module and its instance must outlive it.
class InProcessCall {
 public:
  // `bytes`: of each argument. `is_aligned`: the code expects tensors at multiples of 64 bytes.
  InProcessCall(const FunctionInfo& function, std::unique_ptr<PlanCall> call,
                std::span<const InProcessArgument> arguments, std::vector<std::uint64_t> bytes, bool is_aligned);

  // Whether other memory and numbers may take the place of those that it was bound with.
  bool is_movable() const { return is_movable_; }
  // Both require that it is movable. The memory must be as large; check() is due before the next run.
  void set_memory(std::size_t parameter, void* memory);
  void set_scalar(std::size_t parameter, std::uint64_t bits) { set(parameter, bits); }
  // Fails with invalid_argument if the function writes memory that overlaps with another argument, or memory is not
  // aligned as the code expects.
  Status check() const;

  Status run();

 private:
  // An operand of a step that is an argument, or a place in it.
  struct Place {
    std::size_t step = 0, operand = 0;
    std::uint64_t offset = 0;  // bytes
  };
  friend class InProcessSession;
  void find_places(const Plan& plan, std::span<const std::int64_t> values);
  void set(std::size_t parameter, std::uint64_t to);

  const FunctionInfo& function_;
  std::unique_ptr<PlanCall> call_;
  std::vector<std::uintptr_t> addresses_;
  std::vector<std::uint64_t> bytes_;
  bool is_aligned_;
  bool is_movable_ = false;
  std::vector<std::vector<Place>> places_;  // one list for each parameter
};

class InProcessSession {
 public:
  explicit InProcessSession(const std::string& version);
  ~InProcessSession();
  InProcessSession(const InProcessSession&) = delete;
  InProcessSession& operator=(const InProcessSession&) = delete;

  // Returns the client's end, which the session must outlive. To be called once.
  std::unique_ptr<Transport> connect();

  // As the requests alloc and free do.
  Status allocate(rpc::Handle buffer, std::uint64_t bytes);
  void free(rpc::Handle buffer);
  // Makes a buffer of memory that outlives it. Nothing is copied.
  Status adopt(rpc::Handle buffer, void* memory, std::uint64_t bytes);
  // Returns null for an unknown buffer and for one of 0 bytes.
  std::uint8_t* address(rpc::Handle buffer);
  // Adds a blob of so many bytes for the next module; `read` is called for each piece of it. Fails with
  // invalid_argument if its contents do not have the hash.
  using ReadPiece = std::function<void(std::uint64_t offset, MutableByteSpan into)>;
  Status put_blob(const Hash& hash, std::uint64_t bytes, const ReadPiece& read);
  // Returns what kernels have printed since the last call.
  std::string take_printed() { return cpu_->take_printed(); }

  // Checks a call of a function of the module and binds it. `instance` is 0 if the function needs none. Arguments that
  // overlap are refused if the function writes one of them.
  Result<std::unique_ptr<InProcessCall>> prepare(rpc::Handle module, std::size_t function, rpc::Handle instance,
                                                 std::span<const InProcessArgument> arguments);

 private:
  class Connected;

  std::unique_ptr<Activity> activity_;
  SessionState state_;
  CpuDevice* cpu_ = nullptr;  // one of the session's devices
  std::unique_ptr<Connected> connected_;
};

}  // namespace ferry::device
