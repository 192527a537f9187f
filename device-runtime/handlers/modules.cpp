#include "device-runtime/handlers/modules.h"

#include <optional>
#include <utility>

#include "base/format.h"
#include "device-runtime/handlers/blobs.h"
#include "device-runtime/handlers/kernel_running.h"

namespace ferry::device {
namespace {

// Charges the session's budget for as long as a module's file is in memory.
class FileBytes {
 public:
  explicit FileBytes(MemoryBudget& budget) : budget_(budget) {}
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() { budget_.give_back(bytes_.size()); }

  Status receive(RequestContext& context) {
    const std::uint64_t wanted = context.payload_bytes();
    if (wanted > kMaxModuleBytes) {
      return {ErrorCode::resource_exhausted,
              format("expected a module of at most %llu bytes, got %llu",
                     static_cast<unsigned long long>(kMaxModuleBytes), static_cast<unsigned long long>(wanted))};
    }
    FERRY_TRY(budget_.take(wanted));
    bytes_.resize(static_cast<std::size_t>(wanted));
    return context.receive_payload(bytes_);
  }

  Status take(std::vector<std::uint8_t> bytes) {
    FERRY_TRY(budget_.take(bytes.size()));
    bytes_ = std::move(bytes);
    return {};
  }

  std::span<const std::uint8_t> bytes() const { return bytes_; }
  std::vector<std::uint8_t> release() {
    budget_.give_back(bytes_.size());
    return std::exchange(bytes_, {});
  }

 private:
  MemoryBudget& budget_;
  std::vector<std::uint8_t> bytes_;
};

// Stores the file once the client is idle. Only a limited total size is held back; beyond it the files are stored at
// once.
Status store_later(SessionState& state, const Hash& hash, ModuleBytes file) {
  std::size_t held = file->size();
  for (const UnstoredModule& module : state.unstored) held += module.file->size();
  state.unstored.push_back({hash, std::move(file)});
  return held <= kMaxUnstoredBytes ? Status() : store_modules(state);
}

std::optional<std::vector<std::uint8_t>> find_file(const SessionState& state, const Hash& hash) {
  for (const UnstoredModule& module : state.unstored) {
    if (module.hash == hash) return *module.file;
  }
  return state.store.find(hash);
}

}  // namespace

Result<rpc::PutModuleReply> handle_put_module(SessionState& state, RequestContext& context,
                                              const rpc::PutModule& request) {
  FERRY_TRY(state.modules.check_new(request.module));
  FileBytes file(state.budget);
  if (context.payload_bytes() != 0) {
    FERRY_TRY(file.receive(context));
    if (const Hash actual = blake2b(file.bytes()); actual != request.hash) {
      return Status(ErrorCode::invalid_argument, "the module was damaged on its way: expected hash " +
                                                     to_hex(request.hash) + ", got " + to_hex(actual));
    }
  } else {
    std::optional<std::vector<std::uint8_t>> stored = find_file(state, request.hash);
    if (!stored) return rpc::PutModuleReply{false};
    FERRY_TRY(file.take(std::move(*stored)));
  }
  auto loaded = [&] {
    const KernelRunning running(context, "loading a module");
    return load_module(file.bytes(), request.hash, state.facts, state.devices, state.join);
  }();
  FERRY_ASSIGN(auto module, std::move(loaded));
  const Status constants = load_constants(state, context, *module);
  const bool may_ask = context.payload_bytes() == 0;
  if (may_ask && constants.code() == ErrorCode::not_found) return rpc::PutModuleReply{false};
  FERRY_TRY(constants);
  const auto bytes = std::make_shared<const std::vector<std::uint8_t>>(file.release());
  if (state.access.isolation.zygote.exists()) {
    auto charge = MemoryCharge::take(state.budget, bytes->size());
    if (charge.is_ok()) {
      module->file_charge.emplace(std::move(charge.value()));
      module->file = bytes;
    }
  }
  state.modules.define(request.module, std::move(module));
  if (context.payload_bytes() != 0) {
    if (const Status kept = store_later(state, request.hash, bytes); !kept.is_ok()) context.log(kept.message());
  }
  return rpc::PutModuleReply{true};
}

Status store_modules(SessionState& state) {
  Status result;
  for (const UnstoredModule& module : state.unstored) {
    Status stored = state.store.put(module.hash, *module.file);
    if (!stored.is_ok()) result = std::move(stored);
  }
  state.unstored.clear();
  return result;
}

Result<rpc::ListModulesReply> handle_list_modules(SessionState& state, RequestContext&, const rpc::ListModules&) {
  rpc::ListModulesReply reply;
  state.modules.for_each([&](rpc::Handle handle, const Module& module) {
    rpc::ModuleListing listing{handle, module.hash, module.file_bytes, {}};
    for (const FunctionInfo& function : module.manifest.functions) listing.functions.push_back(function.name);
    reply.modules.push_back(std::move(listing));
  });
  return reply;
}

Result<rpc::Empty> handle_unload_module(SessionState& state, RequestContext&, const rpc::UnloadModule& request) {
  const Module* module = state.modules.find_quietly(request.module);
  state.instances.remove_if([module](const Instance& instance) { return instance.module == module; });
  FERRY_TRY(state.modules.remove(request.module));
  state.blobs.drop_unused();
  return rpc::Empty{};
}

}  // namespace ferry::device
