#include "tests/fuzz/cases/native.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/compile.h"
#include "crosscompile/link/link.h"
#include "device-runtime/device/kernel_context.h"
#include "device-runtime/loader/elf_image.h"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ferry::fuzz {

namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result.is_ok()) throw std::runtime_error(result.status().message());
  return std::move(result.value());
}

std::size_t bytes_of(const ManifestExpr& expr, const Call& call) {
  if (expr.code.empty()) return 0;
  return static_cast<std::size_t>(value_of(evaluate(expr, call.symbols())));
}

// In a kernel's first parallel loops every chunk is delayed, in helper threads longer than in the caller, so that all
// threads get chunks and a missing wait for them is detected.
constexpr int kSlowLoops = 6;
constexpr useconds_t kCallerMicroseconds = 60, kHelperMicroseconds = 250;

struct SlowBody {
  ferry_parallel_body body;
  void* closure;
};

std::int32_t slowly(std::int64_t begin, std::int64_t end, void* closure) {
  usleep(device::ThreadPool::thread_index() == 0 ? kCallerMicroseconds : kHelperMicroseconds);
  const auto* const slow = static_cast<const SlowBody*>(closure);
  return slow->body(begin, end, slow->closure);
}

constexpr std::size_t kMaxWorkspace = std::size_t{1} << 30;

int slow_loops_left = 0;  // each case runs in its own process

// Runs chunks of one iteration. Kernels ask for chunks with enough work for a thread, so small loops would otherwise
// stay in the calling thread.
std::int32_t in_single_iterations(const ferry_runtime_api* rt, std::int64_t n, std::int64_t, ferry_parallel_body body,
                                  void* closure) {
  device::ThreadPool& pool = *reinterpret_cast<const device::KernelContext*>(rt)->pool;
  if (device::ThreadPool::thread_index() != 0 || slow_loops_left == 0) return pool.parallel_for(n, 1, body, closure);
  --slow_loops_left;
  SlowBody slow{body, closure};
  return pool.parallel_for(n, 1, slowly, &slow);
}

}  // namespace

std::int32_t run_native(const ir::Function& function, const Target& target, const Call& call) {
  const FunctionInfo info = describe_function(function);
  const NativeCode code = native_code(info).value();
  const std::vector<std::uint8_t> object = codegen::emit_object(std::span(&function, 1), target);
  const std::vector<std::string> exports = {code.symbol};
  const std::vector<std::uint8_t> file = link::link_shared(object, target, exports);
  const device::ElfImage image = value_of(device::ElfImage::load(file));
  device::ThreadPool pool(3);
  device::PrintBuffer printed;
  device::KernelContext context = device::make_kernel_context(pool, printed);
  context.api.parallel_for = in_single_iterations;
  slow_loops_left = kSlowLoops;
  const std::size_t call_bytes = bytes_of(code.call_workspace, call);
  context.thread_workspace_stride = (bytes_of(code.thread_workspace, call) + 63) / 64 * 64;
  if (std::max<std::size_t>(call_bytes, context.thread_workspace_stride) > kMaxWorkspace)
    throw WorkspaceLimit("a workspace of " + std::to_string(call_bytes) + " bytes");
  // Memory that was not written reads as NaN or as large numbers.
  const GuardedMemory call_workspace(call_bytes, 0xff);
  const GuardedMemory thread_workspaces(context.thread_workspace_stride * pool.threads(), 0xff);
  context.call_workspace = call_workspace.data();
  context.thread_workspaces = thread_workspaces.data();
  const auto kernel = reinterpret_cast<ferry_kernel>(value_of(image.function(code.symbol)));
  std::vector<void*> operands;
  for (const Operand& operand : std::get<CallStep>(info.plan.steps.front()).operands)
    operands.push_back(
        call.pointers()[(operand.kind == OperandKind::value ? info.parameters.size() : 0) + operand.index]);
  const std::int32_t result = kernel(operands.data(), &context.api);
  if (!call_workspace.is_intact() || !thread_workspaces.is_intact())
    throw std::runtime_error("the kernel writes beside its workspace");
  return result;
}

}  // namespace ferry::fuzz
