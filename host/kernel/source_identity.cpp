#include "host/kernel/source_identity.h"

#include <cstring>
#include <string_view>

#include "base/hash_stream.h"
#include "base/overloaded.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/size_hints.h"
#include "host/kernel/tuned_functions.h"

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

void add_program(const KernelSource& source, const TextKernel& kernel, const std::string& function,
                 const Target& target, const CallOptions& call, Identity& identity) {
  const lang::Program& program = choose_program(source, function);
  identity.add(source.text);
  identity.add(program.name);
  identity.add(kernel.fixed);
  identity.add(std::uint64_t{kernel.debug});
  // Lines in debug information name the file.
  if (kernel.debug) identity.add(source.name);
  identity.add(std::uint64_t{kernel.unscheduled});
  identity.add(std::uint64_t{kernel.schedule.has_value()});
  if (kernel.schedule) identity.add(*kernel.schedule);
  identity.add(kernel.point ? std::string_view(kernel.point->text) : std::string_view());
  identity.add(size_hints(program, call));
  if (!takes_tuned(source)) return;
  for (const TunedFunction& tuned :
       tuned_functions(source, std::span(&program, 1), sizes_of_call(source, program, call), target)) {
    identity.add(std::uint64_t{tuned.fixed.has_value()});
    identity.add(tuned.sizes);
    identity.add(std::uint64_t{tuned.schedule.values.size()});
    for (const std::string& value : tuned.schedule.values) identity.add(value);
  }
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
  if (const ModuleKernel* kernel = source.as_module(); kernel != nullptr && kernel->object.empty()) {
    identity.add(kModule);
    identity.add(kernel->module.hash());
    return SourceIdentity{identity.finish()};
  }
  const Compiler& compiler = expect_compiler(source.compiler, source.name);
  identity.add(compiler.identity(target));
  const bool is_unchanged = std::visit(Overloaded{[&](const TextKernel& kernel) {
                                                    identity.add(kProgram);
                                                    add_program(source, kernel, function, target, call, identity);
                                                    return true;
                                                  },
                                                  [&](const ForeignKernel&) {
                                                    identity.add(kForeign);
                                                    add_compiled(compiler);
                                                    return true;
                                                  },
                                                  [&](const NetworkKernel& kernel) {
                                                    identity.add(kNetwork);
                                                    const std::optional<Hash> network = kernel.network->identity(
                                                        {.target = target,
                                                         .sizes = size_hints(function_of(source, function), call),
                                                         .form = CodeForm::relinkable,
                                                         .tuned = source.tuned.get()});
                                                    if (network) identity.add(*network);
                                                    return network.has_value();
                                                  },
                                                  [&](const ModuleKernel&) {
                                                    identity.add(kModule);
                                                    add_compiled(compiler);
                                                    return true;
                                                  }},
                                       source.kind);
  if (!is_unchanged) return std::nullopt;
  return SourceIdentity{identity.finish(), std::move(module)};
}

}  // namespace ferry
