#include "host/session/remote_error.h"
#include "rpc/abi/module_file.h"

namespace ferry {

struct CompiledModule::State {
  std::vector<std::uint8_t> bytes;
  Hash hash;
  Manifest manifest;
  std::string source, schedule;
};

CompiledModule::CompiledModule(std::vector<std::uint8_t> bytes) {
  ModuleFile file = session::take(read_module(bytes));
  const Hash hash = blake2b(bytes);
  state_ = std::make_shared<State>(
      State{std::move(bytes), hash, std::move(file.manifest), std::move(file.source), std::move(file.schedule)});
}

const std::vector<std::uint8_t>& CompiledModule::bytes() const { return state_->bytes; }

const Hash& CompiledModule::hash() const { return state_->hash; }

const Manifest& CompiledModule::manifest() const { return state_->manifest; }

const std::string& CompiledModule::source() const { return state_->source; }

const std::string& CompiledModule::schedule() const { return state_->schedule; }

}  // namespace ferry
