#include "host/kernel/source_identity.h"

#include <cstring>
#include <string_view>

#include "base/hash_stream.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/size_hints.h"

namespace ferry {

namespace {

// Values are hashed with their lengths, so that different sequences have different hashes.
class Identity {
 public:
  void add(std::uint64_t number) {
    std::uint8_t bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    hash_.add(bytes);
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    hash_.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  void add(const Hash& hash) { hash_.add(hash); }
  void add(const SizesByName& sizes) {
    add(std::uint64_t{sizes.size()});
    for (const auto& [name, size] : sizes) {
      add(name);
      add(static_cast<std::uint64_t>(size));
    }
  }
  void add(const ScheduleText& schedule) {
    add(schedule.text);
    add(std::uint64_t{schedule.knobs.size()});
    for (const auto& [name, value] : schedule.knobs) {
      add(name);
      add(value);
    }
  }
  Hash finish() { return hash_.finish(); }

 private:
  HashStream hash_;
};

void add_program(const KernelSource& source, const std::string& function, const CallOptions& call, Identity& identity) {
  const lang::Program& program = choose_program(source, function);
  identity.add(source.text);
  identity.add(program.name);
  identity.add(source.fixed);
  identity.add(std::uint64_t{source.debug});
  // Lines in debug information name the file.
  if (source.debug) identity.add(source.name);
  identity.add(std::uint64_t{source.unscheduled});
  identity.add(std::uint64_t{source.schedule.has_value()});
  if (source.schedule) identity.add(*source.schedule);
  identity.add(size_hints(program, call));
}

}  // namespace

std::optional<SourceIdentity> source_identity(const KernelSource& source, const std::string& function,
                                              const Target& target, const CallOptions& call, const Observer& observer) {
  enum Kind : std::uint64_t { kModule, kForeign, kNetwork, kProgram };
  Identity identity;
  std::optional<CompiledModule> module;
  const auto add_compiled = [&](const Compiler& compiler) {
    module = compile_kernel(source, function, target, call, observer, CodeForm::relinkable).module;
    identity.add(compiler.code_identity(module->bytes()));
  };
  if (source.module && source.object.empty()) {
    identity.add(kModule);
    identity.add(source.module->hash());
    return SourceIdentity{identity.finish()};
  }
  const Compiler& compiler = expect_compiler(source.compiler, source.name);
  identity.add(compiler.identity(target));
  if (source.module) {
    identity.add(kModule);
    add_compiled(compiler);
  } else if (source.foreign) {
    identity.add(kForeign);
    add_compiled(compiler);
  } else if (source.network) {
    identity.add(kNetwork);
    const std::optional<Hash> network = source.network->identity(
        {.target = target, .sizes = size_hints(function_of(source, function), call), .form = CodeForm::relinkable});
    if (!network) return std::nullopt;
    identity.add(*network);
  } else {
    identity.add(kProgram);
    add_program(source, function, call, identity);
  }
  return SourceIdentity{identity.finish(), std::move(module)};
}

}  // namespace ferry
