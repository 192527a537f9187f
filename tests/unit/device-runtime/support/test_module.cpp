#include "tests/unit/device-runtime/support/test_module.h"

#include "rpc/abi/runtime_api.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

const char* const kSource = R"(
#include "rpc/abi/runtime_api.h"
#define KERNEL(name) int32_t name(void* const* args, const ferry_runtime_api* rt)

struct loop { const float* a; const float* b; float* c; };
static int32_t add_part(int64_t begin, int64_t end, void* closure) {
  struct loop* l = closure;
  for (int64_t i = begin; i < end; ++i) l->c[i] = l->a[i] + l->b[i];
  return 0;
}
/* add(in A, in B, out C) over n, in parallel */
KERNEL(add) {
  struct loop l = {args[0], args[1], args[2]};
  return rt->parallel_for(rt, *(int64_t*)args[3], 64, add_part, &l);
}
/* scale(factor, inout A) */
KERNEL(scale) {
  float* a = args[1];
  int64_t n = *(int64_t*)args[2];
  for (int64_t i = 0; i < n; ++i) a[i] *= *(float*)args[0];
  return 0;
}
/* ramp(n, out A): n comes as a scalar, uses both workspaces */
KERNEL(ramp) {
  float* a = args[1];
  int64_t n = *(int64_t*)args[0];
  int64_t* call = rt->workspace(rt, FERRY_WORKSPACE_CALL);
  char* thread = rt->workspace(rt, FERRY_WORKSPACE_THREAD);
  if (!call || !thread || ((uintptr_t)call | (uintptr_t)thread) % 64) return 1;
  for (int64_t i = 0; i < n; ++i) call[i] = i;
  for (int64_t i = 0; i < 100; ++i) thread[i] = 1;
  for (int64_t i = 0; i < n; ++i) a[i] = (float)call[i];
  return 0;
}
/* fail(code, out A) returns the code */
KERNEL(fail) { return (int32_t)*(int64_t*)args[0]; }
KERNEL(say) {
  rt->print(rt, "hello from a kernel", 19);
  return rt->query(rt, "nothing") != 0;
}
KERNEL(null_pointer) {
  volatile int* nowhere = 0;
  *nowhere = 1;
  return 0;
}
KERNEL(illegal) {
#if defined(__x86_64__)
  __asm__ volatile("ud2");
#elif defined(__aarch64__)
  __asm__ volatile("udf #0");
#elif defined(__arm__)
  __asm__ volatile(".inst 0xe7f000f0");
#else
  __asm__ volatile("unimp");
#endif
  return 0;
}
/* crash_inside(out A): the second thread's share of a loop goes wrong */
static int32_t crash_part(int64_t begin, int64_t end, void* closure) {
  volatile int* nowhere = 0;
  if (end > 500) *nowhere = 1;
  return 0;
}
KERNEL(crash_inside) { return rt->parallel_for(rt, 1000, 1, crash_part, 0); }
KERNEL(forever) {
  for (volatile int go = 1; go;) {}
  return 0;
}
/* spin(rounds) takes a time that grows with rounds */
KERNEL(spin) {
  volatile int64_t x = 0;
  for (int64_t i = 0; i < *(int64_t*)args[0]; ++i) x += i;
  return 0;
}
)";

FunctionInfo function(std::string name, std::vector<ParameterInfo> parameters,
                      std::vector<std::string> symbols = {"n"}) {
  FunctionInfo info;
  info.name = name;
  info.symbol = std::move(name);
  info.symbols = std::move(symbols);
  info.parameters = std::move(parameters);
  return info;
}

}  // namespace

ParameterInfo tensor_parameter(std::string name, Direction direction, DType dtype) {
  ParameterInfo info;
  info.name = std::move(name);
  info.dtype = dtype;
  info.direction = direction;
  info.shape = {manifest_symbol(0)};
  return info;
}

ParameterInfo scalar_parameter(std::string name, DType dtype) {
  ParameterInfo info;
  info.name = std::move(name);
  info.kind = ParameterKind::scalar;
  info.dtype = dtype;
  return info;
}

ModuleFile kit_module() {
  ModuleFile module;
  module.manifest.abi_version = FERRY_ABI_VERSION;
  module.manifest.arch = server_arch();
  module.manifest.target = "tests";
  auto& functions = module.manifest.functions;
  functions.push_back(function("add", {tensor_parameter("A", Direction::in), tensor_parameter("B", Direction::in),
                                       tensor_parameter("C", Direction::out)}));
  functions.push_back(
      function("scale", {scalar_parameter("factor", DType::f32), tensor_parameter("A", Direction::inout)}));
  functions.push_back(function("ramp", {scalar_parameter("n", DType::i64), tensor_parameter("A", Direction::out)}));
  functions.back().call_workspace = manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(8)});
  functions.back().thread_workspace = manifest_constant(100);
  ParameterInfo one_element = tensor_parameter("A", Direction::out);
  one_element.shape = {manifest_constant(1)};
  functions.push_back(function("fail", {scalar_parameter("code", DType::i64), one_element}, {}));
  functions.back().messages = {"the first reason", "the second reason"};
  for (const char* name : {"say", "null_pointer", "illegal", "crash_inside", "forever"}) {
    functions.push_back(function(name, {}, {}));
  }
  functions.push_back(function("spin", {scalar_parameter("rounds", DType::i64)}, {}));
  KernelOptions options;
  options.arch = server_arch();
  module.images.push_back({"elf", compile_kernel(kSource, options)});
  module.source = kSource;
  return module;
}

const Bytes& kit_file() {
  static const Bytes file = write_module(kit_module());
  return file;
}

rpc::Handle put(TestClient& client, const Bytes& file) {
  const rpc::Handle module = client.new_handle();
  const auto answer = client.must(rpc::PutModule{module, blake2b(file)}, file);
  CHECK(answer.reply.present);
  return module;
}

}  // namespace ferry::test
