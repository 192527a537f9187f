#include <optional>

#include "base/throw_status.h"
#include "ferry/client.h"
#include "module/module_file.h"
#include "module/preparation.h"

namespace ferry {

struct CompiledModule::State {
  std::vector<std::uint8_t> bytes;
  Hash hash;
  Manifest manifest;                                      // the caller's view
  std::vector<std::optional<FunctionInfo>> preparations;  // one for each function of the manifest
  std::string source, schedule;
};

CompiledModule::CompiledModule(std::vector<std::uint8_t> bytes) {
  ModuleFile file = take(read_module(bytes));
  const Hash hash = blake2b(bytes);
  std::vector<CallersFunction> functions = take(callers_functions(file.manifest));
  std::vector<std::optional<FunctionInfo>> preparations;
  file.manifest.functions.clear();
  for (CallersFunction& function : functions) {
    file.manifest.functions.push_back(std::move(function.info));
    preparations.push_back(std::move(function.preparation));
  }
  state_ = std::make_shared<State>(State{std::move(bytes), hash, std::move(file.manifest), std::move(preparations),
                                         std::move(file.source), std::move(file.schedule)});
}

const std::vector<std::uint8_t>& CompiledModule::bytes() const { return state_->bytes; }

const Hash& CompiledModule::hash() const { return state_->hash; }

const Manifest& CompiledModule::manifest() const { return state_->manifest; }

std::vector<std::string> CompiledModule::functions() const {
  std::vector<std::string> names;
  for (const FunctionInfo& function : state_->manifest.functions) names.push_back(function.name);
  return names;
}

const FunctionInfo* CompiledModule::preparation(std::size_t function) const {
  const auto& preparation = state_->preparations.at(function);
  return preparation ? &*preparation : nullptr;
}

const std::string& CompiledModule::source() const { return state_->source; }

const std::string& CompiledModule::schedule() const { return state_->schedule; }

}  // namespace ferry
