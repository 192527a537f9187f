#include <cstring>

#include "base/throw_status.h"
#include "ferry/client.h"
#include "host/client/blobs/module_with_blobs.h"
#include "module/init_plan.h"
#include "module/module_file.h"
#include "module/step_description.h"

namespace ferry {

struct CompiledModule::State {
  std::vector<std::uint8_t> bytes;
  Hash hash{};
  Manifest manifest;
  std::string source, schedule;
  std::vector<StepDescription> steps;
  std::shared_ptr<const BlobSource> blobs;

  State(ModuleWithBlobs read) : bytes(std::move(read.bytes)), blobs(std::move(read.blobs)) {
    ModuleFile& module = read.module;
    steps = value_or_throw(step_descriptions(module));
    if (value_or_throw(attach_earlier_init_plans(module.manifest))) bytes = write_module(module);
    hash = blake2b(bytes);
    manifest = std::move(module.manifest);
    source = std::move(module.source);
    schedule = std::move(module.schedule);
  }
};

CompiledModule::CompiledModule(std::vector<std::uint8_t> bytes, std::shared_ptr<const BlobSource> blobs) {
  ModuleWithBlobs module = divide_module(std::move(bytes));
  if (module.blobs == nullptr) module.blobs = std::move(blobs);
  state_ = std::make_shared<State>(std::move(module));
}

CompiledModule CompiledModule::open(const std::string& file) {
  return CompiledModule(std::make_shared<const State>(read_module_file(file)));
}

void CompiledModule::save(const std::string& file) const {
  const int failed = write_module_file(file, bytes(), manifest(), blobs());
  if (failed != 0) throw UsageError("cannot write '" + file + "': " + std::strerror(failed));
}

const std::vector<std::uint8_t>& CompiledModule::bytes() const { return state_->bytes; }

const Hash& CompiledModule::hash() const { return state_->hash; }

const BlobSource* CompiledModule::blobs() const { return state_->blobs.get(); }

const Manifest& CompiledModule::manifest() const { return state_->manifest; }

std::vector<std::string> CompiledModule::functions() const {
  std::vector<std::string> names;
  for (const FunctionInfo& function : state_->manifest.functions) names.push_back(function.name);
  return names;
}

const std::string& CompiledModule::source() const { return state_->source; }

const std::string& CompiledModule::schedule() const { return state_->schedule; }

const std::vector<StepDescription>& CompiledModule::steps() const { return state_->steps; }

}  // namespace ferry
