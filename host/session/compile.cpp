#include "crosscompile/compile.h"

#include "crosscompile/target/resolve.h"
#include "host/lang/program.h"
#include "host/lang/text.h"
#include "host/lower/lower.h"
#include "host/session/remote_error.h"
#include "rpc/abi/module_file.h"

namespace ferry {

struct CompiledModule::State {
  std::vector<std::uint8_t> bytes;
  Hash hash;
  Manifest manifest;
  std::string source;
};

CompiledModule::CompiledModule(std::vector<std::uint8_t> bytes) {
  ModuleFile file = session::take(read_module(bytes));
  const Hash hash = blake2b(bytes);
  state_ = std::make_shared<State>(State{std::move(bytes), hash, std::move(file.manifest), std::move(file.source)});
}

const std::vector<std::uint8_t>& CompiledModule::bytes() const { return state_->bytes; }

const Hash& CompiledModule::hash() const { return state_->hash; }

const Manifest& CompiledModule::manifest() const { return state_->manifest; }

const std::string& CompiledModule::source() const { return state_->source; }

Target target(std::string_view text) { return resolve_target(text); }

CompiledModule compile(std::span<const lang::Program> programs, const Target& target, std::string source) {
  std::vector<ir::Function> functions;
  for (const lang::Program& program : programs) functions.push_back(lower::lower(program, target));
  return CompiledModule(compile_module(functions, target, {std::move(source), ""}));
}

CompiledModule compile(const lang::Program& program, const Target& target, std::string source) {
  return compile(std::span(&program, 1), target, std::move(source));
}

CompiledModule compile(std::string_view source, const Target& target, std::string_view file) {
  return compile(lang::parse(source, file), target, std::string(source));
}

}  // namespace ferry
