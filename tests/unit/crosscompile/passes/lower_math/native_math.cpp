#include "tests/unit/crosscompile/passes/lower_math/native_math.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/link/link.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/operators.h"
#include "ferry/runtime_api.h"
#include "module/kernel_symbol.h"

#include <stdexcept>

namespace ferry::math_test {
namespace {

using namespace ir;

BufferRef buffer(const std::string& name, DType dtype) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = {Expr(kBatch)};
  made->scope = Scope::parameter;
  return made;
}

device::ElfImage load(const std::string& name, std::size_t arguments, const Target& target, std::uint32_t lanes) {
  const std::vector<Function> functions{passes::run_pipeline(batch_function(name, arguments, lanes), target)};
  const std::vector<std::string> exports{kSymbolPrefix + name};
  auto image = device::ElfImage::load(link::link_shared(codegen::emit_object(functions, target), target, exports));
  if (!image.is_ok()) throw std::runtime_error(image.status().message());
  return std::move(image.value());
}

}  // namespace

Function batch_function(const std::string& name, std::size_t arguments, std::uint32_t lanes, DType dtype) {
  Function function;
  function.name = name;
  const Expr i = Var::make("i");
  const Expr at = Ramp::make(i * Expr(std::int64_t{lanes}), Expr(1), lanes);
  std::vector<Expr> values;
  for (std::size_t k = 0; k < arguments; ++k) {
    const BufferRef in = buffer("in" + std::to_string(k), dtype);
    function.parameters.push_back({in->name, ParameterKind::tensor, Direction::in, in, {}});
    values.push_back(Load::make(in, {at}));
  }
  const BufferRef out = buffer("out", dtype);
  function.parameters.push_back({out->name, ParameterKind::tensor, Direction::out, out, {}});
  const Stmt body = Store::make(out, {at}, call_math(name, values));
  function.body = For::make(i, Expr(0), Expr(kBatch / lanes), ForKind::serial, body);
  return function;
}

NativeMath::NativeMath(const std::string& name, std::size_t arguments, const Target& target, std::uint32_t lanes)
    : arguments_(arguments), image_(load(name, arguments, target, lanes)), function_(nullptr) {
  const auto function = image_.function(kSymbolPrefix + name);
  if (!function.is_ok()) throw std::runtime_error(function.status().message());
  function_ = function.value();
}

void NativeMath::run(const Batch& first, const Batch& second, Batch& out) const {
  void* one[] = {const_cast<Batch*>(&first), &out};
  void* two[] = {const_cast<Batch*>(&first), const_cast<Batch*>(&second), &out};
  const ferry_runtime_api runtime{sizeof(ferry_runtime_api), FERRY_ABI_VERSION, nullptr, nullptr, nullptr, nullptr};
  reinterpret_cast<ferry_kernel>(function_)(arguments_ == 1 ? one : two, &runtime);
}

std::vector<std::string> native_targets() {
  std::vector<std::string> names;
  const Target host = resolve_target("host");
  for (const char* name : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    const Target target = resolve_target(name);
    const bool runs = target.arch == host.arch && (!target.has("avx2") || host.has("avx2")) &&
                      (!target.has("avx512f") || host.has("avx512f"));
    if (runs) names.emplace_back(name);
  }
  return names;
}

}  // namespace ferry::math_test
