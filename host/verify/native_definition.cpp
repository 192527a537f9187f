#include "host/verify/native_definition.h"

#include <cstring>
#include <thread>
#include <utility>

#include "crosscompile/ir/expr.h"
#include "ferry/error.h"
#include "host/lang/reference/reference_program.h"

namespace ferry::verify {

namespace {

// A client without a compiler has no definitions to compile, and leaves out of its program what would turn them into
// others.
constexpr bool kHasCompiler = FERRY_COMPILER;

// The tensors between the inputs and the results may take so much.
constexpr double kMostBytes = 512 << 20;

SizesByName sizes_of(const lang::Program& program, const CallPlan& plan) {
  SizesByName sizes;
  const std::vector<lang::Expr> symbols = lang::symbols_of(program);
  for (std::size_t i = 0; i < symbols.size(); ++i) sizes[symbols[i].as<ir::Var>()->name] = plan.symbols[i];
  return sizes;
}

std::vector<HostArgument> arguments_of(const lang::Program& program, const CallPlan& plan,
                                       std::span<const void* const> given) {
  std::vector<HostArgument> arguments;
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    if (plan.scalars[p])
      arguments.push_back({.number = *plan.scalars[p]});
    else if (program.parameters[p].direction != Direction::out)
      arguments.push_back({plan.dtypes[p], plan.shapes[p], plan.strides[p], given[p]});
  }
  return arguments;
}

std::vector<double> doubles_in(const std::vector<std::uint8_t>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

struct NativeDefinition::Compiled {
  std::optional<lang::ReferenceProgram> reference;  // nothing if the definition has to be evaluated
  HostKernel call = {};                             // empty until it is needed
};

NativeDefinition::NativeDefinition(const Compiler& compiler, lang::Program program)
    : compiler_(compiler), program_(std::move(program)) {}

NativeDefinition::~NativeDefinition() = default;

const NativeDefinition::Compiled* NativeDefinition::compiled(lang::RoundingBound bound, const CallPlan& plan,
                                                             std::span<const void* const> arguments,
                                                             double seconds) const {
  if constexpr (!kHasCompiler) return nullptr;
  const bool is_worst_case = bound == lang::RoundingBound::worst_case ||
                             (bound == lang::RoundingBound::exact && square_root_ == nullptr && worst_case_ != nullptr);
  std::unique_ptr<Compiled>& kept = is_worst_case ? worst_case_ : square_root_;
  if (kept == nullptr) {
    kept = std::make_unique<Compiled>();
    try {
      kept->reference = lang::reference_program(
          program_, is_worst_case ? lang::RoundingBound::worst_case : lang::RoundingBound::square_root);
    } catch (const CompileError&) {
      // The evaluator knows what it says.
    }
  }
  if (!kept->reference) return nullptr;
  const lang::ReferenceCost cost = lang::cost_of(*kept->reference, program_, plan.symbols, arguments,
                                                 static_cast<int>(std::thread::hardware_concurrency()));
  if (cost.seconds > seconds || cost.bytes > kMostBytes) return nullptr;
  if (kept->call) return kept.get();
  try {
    kept->call =
        compiler_.load({.programs = std::span(&kept->reference->program, 1), .sizes = sizes_of(program_, plan)});
  } catch (const Error&) {
    kept->reference.reset();
    return nullptr;
  }
  return kept.get();
}

std::optional<std::vector<NativeOutput>> NativeDefinition::outputs_of(const CallPlan& plan,
                                                                      std::span<const void* const> arguments,
                                                                      lang::RoundingBound bound, double seconds) const {
  const Compiled* const kernel = compiled(bound, plan, arguments, seconds);
  if (kernel == nullptr) return {};
  std::vector<NativeOutput> outputs(program_.parameters.size());
  try {
    std::vector<std::vector<std::uint8_t>> results = kernel->call(arguments_of(program_, plan, arguments));
    std::size_t next = 0;
    for (const lang::ReferenceProgram::Output& output : kernel->reference->outputs) {
      outputs[output.parameter].values = std::move(results.at(next++));
      if (output.has_error) outputs[output.parameter].errors = doubles_in(results.at(next++));
    }
  } catch (const Error&) {
    return {};  // the evaluator says why the definition has no value for these inputs
  }
  return outputs;
}

}  // namespace ferry::verify
