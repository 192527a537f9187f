#include "host/no_compiler/no_compiler.h"

#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"
#include "crosscompile/codegen/llvm/source_line.h"
#include "crosscompile/compile.h"
#include "crosscompile/foreign/foreign.h"
#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/lost_vectors.h"
#include "ferry/schedule/default_schedule.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"
#include "host/schedule/stages/scheduled_stage.h"

namespace ferry {

void refuse_to_compile(const std::string& what) {
  throw CompileError(what +
                     " needs a compiler, which this ferry is built without: compile it to a .ferry module with a whole "
                     "ferry (ferry compile K.tc -o K.ferry --target ...), and run that here");
}

bool has_compiler() { return false; }

std::vector<std::uint8_t> compile_object(std::span<const ir::Function>, const Target& target, const ModuleText&) {
  refuse_to_compile("an object for " + target.text);
}

std::optional<std::vector<std::uint8_t>> module_of_object(std::span<const std::uint8_t>, const std::string& name) {
  refuse_to_compile(name);
}

std::vector<std::uint8_t> compile_module(std::span<const ir::Function>, const Target&, const ModuleText&,
                                         std::uint32_t) {
  refuse_to_compile("a kernel's text");
}

FunctionInfo describe(const ir::Function& function) { refuse_to_compile(function.name); }

namespace passes {

ir::Expr lower(const Context&, const ir::Call&, const Target&) { refuse_to_compile("an intrinsic of one's own"); }

std::vector<std::string> lost_vectors(const ir::Function&, const Target&) { return {}; }

}  // namespace passes

namespace lower {

ir::Function lower(const lang::Program& program, const schedule::Schedule&) { refuse_to_compile(program.name); }

std::vector<ir::Function> lower_module(std::span<const lang::Program>, std::span<const schedule::Schedule>) {
  refuse_to_compile("a kernel's text");
}

}  // namespace lower

namespace schedule {

Schedule::Schedule(const lang::Program& program) { refuse_to_compile(program.name); }
Schedule::~Schedule() = default;

}  // namespace schedule

namespace autoschedule {

std::vector<schedule::Schedule> replay_module_schedule(std::span<const lang::Program>, const ScheduleText& text,
                                                       const Target&, const std::vector<std::string>&, const Sizes&) {
  refuse_to_compile(text.file);
}

std::vector<schedule::Knob> knobs_of(const ScheduleText& text) { refuse_to_compile(text.file); }

std::vector<schedule::Schedule> default_schedules(std::span<const lang::Program> programs, const Target&,
                                                  const Sizes&) {
  refuse_to_compile(programs.empty() ? "a kernel's text" : programs.front().name);
}

std::string to_text(std::span<const lang::Program>, std::span<const schedule::Schedule>) {
  refuse_to_compile("a schedule");
}

}  // namespace autoschedule

namespace foreign {

bool is_foreign(const std::string& file) {
  for (const char* ending : {".c", ".cc", ".cpp", ".cxx", ".ll", ".bc", ".s", ".S", ".o"}) {
    if (file.ends_with(ending)) return true;
  }
  return false;
}

std::vector<std::string> signatures_in_source(std::string_view) { refuse_to_compile("a kernel in another language"); }
Signature parse_signature(std::string_view) { refuse_to_compile("a kernel in another language"); }

std::vector<std::uint8_t> compile_foreign(const ForeignKernel& kernel, const Target&, std::uint32_t) {
  refuse_to_compile(kernel.file);
}

}  // namespace foreign

namespace codegen {

// Source lines of a crash are available only with the compiler.
std::string source_line(std::span<const std::uint8_t>, std::uint64_t) { return {}; }

TripleFacts parse_triple(std::string_view text) { refuse_to_compile("--target " + std::string(text)); }
bool is_triple(std::string_view text) { return text.find("-linux") != std::string_view::npos; }
TripleFacts triple_of_arch(std::string_view arch) { refuse_to_compile("a target for " + std::string(arch)); }
std::vector<std::string> known_cpus(const std::string&) { return {}; }
std::vector<std::string> known_features(const std::string&) { return {}; }
std::vector<std::string> features_of(const std::string& triple, const std::string&, const std::vector<std::string>&) {
  refuse_to_compile("--target " + triple);
}
std::vector<std::string> default_attributes(const std::string& triple, const std::string&) {
  refuse_to_compile("--target " + triple);
}
std::optional<std::string> cpu_of_cpuinfo(const std::string&, std::string_view) { return std::nullopt; }
std::string host_arch() { refuse_to_compile("--target host"); }
std::vector<std::string> host_features() { return {}; }

}  // namespace codegen
}  // namespace ferry
