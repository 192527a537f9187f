#include "crosscompile/compile.h"

#include "crosscompile/target/resolve.h"
#include "host/lang/program.h"
#include "host/lang/text.h"
#include "host/lower/lower.h"
#include "host/session/ferry.h"

namespace ferry {

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
