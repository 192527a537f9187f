#include "base/throw_status.h"
#include "ferry/client.h"
#include "module/init_plan.h"
#include "module/module_file.h"

namespace ferry {

struct CompiledModule::State {
  std::vector<std::uint8_t> bytes;
  Hash hash;
  Manifest manifest;
  std::string source, schedule;
};

CompiledModule::CompiledModule(std::vector<std::uint8_t> bytes) {
  ModuleFile file = take(read_module(bytes));
  if (take(attach_earlier_init_plans(file.manifest))) bytes = write_module(file);
  const Hash hash = blake2b(bytes);
  state_ = std::make_shared<State>(
      State{std::move(bytes), hash, std::move(file.manifest), std::move(file.source), std::move(file.schedule)});
}

const std::vector<std::uint8_t>& CompiledModule::bytes() const { return state_->bytes; }

const Hash& CompiledModule::hash() const { return state_->hash; }

const Manifest& CompiledModule::manifest() const { return state_->manifest; }

std::vector<std::string> CompiledModule::functions() const {
  std::vector<std::string> names;
  for (const FunctionInfo& function : state_->manifest.functions) names.push_back(function.name);
  return names;
}

const std::string& CompiledModule::source() const { return state_->source; }

const std::string& CompiledModule::schedule() const { return state_->schedule; }

}  // namespace ferry
