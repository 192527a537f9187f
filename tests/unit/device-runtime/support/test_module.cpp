#include "tests/unit/device-runtime/support/test_module.h"

#include "ferry/runtime_api.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

const char* const kSource = R"(
#include "ferry/runtime_api.h"
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
/* tally(n, out A): how often it was called with this workspace */
KERNEL(tally) {
  float* a = args[1];
  int64_t last = *(int64_t*)args[0] - 1;
  int64_t* call = rt->workspace(rt, FERRY_WORKSPACE_CALL);
  a[last] = (float)++call[last];
  return 0;
}
/* parts(out A): in how many parts a parallel loop ran */
static int32_t mark_part(int64_t begin, int64_t end, void* closure) {
  ((char*)closure)[begin] = 1;
  return 0;
}
KERNEL(parts) {
  char begins[64];
  for (volatile int i = 0; i < 64; ++i) begins[i] = 0;
  const int32_t result = rt->parallel_for(rt, 64, 1, mark_part, begins);
  float count = 0;
  for (int i = 0; i < 64; ++i) count += (float)begins[i];
  *(float*)args[0] = count;
  return result;
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
/* The fifth and sixth argument, of mmap, are no file and no offset. */
static int64_t system_call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d) {
#if defined(__x86_64__)
  register int64_t r10 __asm__("r10") = d;
  register int64_t r8 __asm__("r8") = -1;
  register int64_t r9 __asm__("r9") = 0;
  int64_t result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register int64_t x8 __asm__("x8") = number;
  register int64_t x0 __asm__("x0") = a;
  register int64_t x1 __asm__("x1") = b;
  register int64_t x2 __asm__("x2") = c;
  register int64_t x3 __asm__("x3") = d;
  register int64_t x4 __asm__("x4") = -1;
  register int64_t x5 __asm__("x5") = 0;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#elif defined(__arm__)
  register int r7 __asm__("r7") = (int)number;
  register int r0 __asm__("r0") = (int)a;
  register int r1 __asm__("r1") = (int)b;
  register int r2 __asm__("r2") = (int)c;
  register int r3 __asm__("r3") = (int)d;
  register int r4 __asm__("r4") = -1;
  register int r5 __asm__("r5") = 0;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
  return r0;
#else
  register int64_t a7 __asm__("a7") = number;
  register int64_t a0 __asm__("a0") = a;
  register int64_t a1 __asm__("a1") = b;
  register int64_t a2 __asm__("a2") = c;
  register int64_t a3 __asm__("a3") = d;
  register int64_t a4 __asm__("a4") = -1;
  register int64_t a5 __asm__("a5") = 0;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a0;
#endif
}
/* system(number, a, b, c, d, in text, out result): any system call, `times` of them; -999 stands for the text */
KERNEL(system) {
  int64_t v[5];
  for (int i = 0; i < 5; ++i) {
    v[i] = *(int64_t*)args[i];
    if (v[i] == -999) v[i] = (int64_t)(intptr_t)args[6];
  }
  for (int64_t i = 0; i < *(int64_t*)args[5]; ++i) {
    *(int64_t*)args[7] = system_call(v[0], v[1], v[2], v[3], v[4]);
  }
  return 0;
}
KERNEL(say_and_crash) {
  rt->print(rt, "first line\nlast words\n", 22);
  volatile int* nowhere = (int*)0x1238;
  *nowhere = 1;
  return 0;
}
static int32_t descend(volatile char* above, int32_t depth) {
  volatile char here[4096];
  here[0] = above[0];
  return depth == 0 ? 0 : descend(here, depth - 1) + here[0];
}
KERNEL(overflow_stack) {
  volatile char first = 0;
  return descend(&first, 1 << 28);
}
static int32_t overflow_part(int64_t begin, int64_t end, void* closure) {
  volatile char first = 0;
  return descend(&first, 1 << 28);
}
/* on all threads of a loop */
KERNEL(overflow_stacks) { return rt->parallel_for(rt, 1000, 1, overflow_part, 0); }
KERNEL(divide) {
  volatile int one = 1, zero = 0;
  return one / zero;
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
  info.symbols = std::move(symbols);
  info.parameters = std::move(parameters);
  set_native_code(info, {std::move(name), {}, {}});
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
  module.manifest.devices = {{"cpu", server_arch(), {}}};
  module.manifest.target = "tests";
  auto& functions = module.manifest.functions;
  functions.push_back(function("add", {tensor_parameter("A", Direction::in), tensor_parameter("B", Direction::in),
                                       tensor_parameter("C", Direction::out)}));
  functions.push_back(
      function("scale", {scalar_parameter("factor", DType::f32), tensor_parameter("A", Direction::inout)}));
  functions.push_back(function("ramp", {scalar_parameter("n", DType::i64), tensor_parameter("A", Direction::out)}));
  set_native_code(
      functions.back(),
      {"ramp", manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(8)}), manifest_constant(100)});
  ParameterInfo one_element = tensor_parameter("A", Direction::out);
  one_element.shape = {manifest_constant(1)};
  functions.push_back(function("fail", {scalar_parameter("code", DType::i64), one_element}, {}));
  functions.back().messages = {"the first reason", "the second reason"};
  for (const char* name : {"say", "null_pointer", "illegal", "crash_inside", "forever", "say_and_crash",
                           "overflow_stack", "overflow_stacks", "divide"}) {
    functions.push_back(function(name, {}, {}));
  }
  functions.push_back(function("spin", {scalar_parameter("rounds", DType::i64)}, {}));
  std::vector<ParameterInfo> system;
  for (const char* name : {"number", "a", "b", "c", "d", "times"}) {
    system.push_back(scalar_parameter(name, DType::i64));
  }
  system.push_back(tensor_parameter("text", Direction::in, DType::u8));
  functions.push_back(function("parts", {one_element}, {}));
  one_element.name = "result";
  one_element.dtype = DType::i64;
  system.push_back(one_element);
  functions.push_back(function("system", std::move(system)));
  functions.push_back(function("tally", {scalar_parameter("n", DType::i64), tensor_parameter("A", Direction::out)}));
  set_native_code(functions.back(),
                  {"tally", manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(8)}), {}});
  KernelOptions options;
  options.arch = server_arch();
  module.images.push_back({ImageKind::elf, compile_kernel(kSource, options), 0});
  module.source = kSource;
  return module;
}

const Bytes& kit_file() {
  static const Bytes file = write_module(kit_module());
  return file;
}

std::int64_t SystemCaller::operator()(long number, std::vector<std::int64_t> arguments, const std::string& text,
                                      std::int64_t times) {
  arguments.insert(arguments.begin(), number);
  arguments.resize(5);
  arguments.push_back(times);
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.push_back(0);
  const rpc::Handle in = client_.upload(bytes), out = client_.upload(std::vector<std::int64_t>{12345});
  rpc::Call call{module_, "system", {}};
  for (const std::int64_t argument : arguments) call.arguments.push_back(scalar(argument));
  call.arguments.push_back(tensor(in, {static_cast<std::int64_t>(bytes.size())}, DType::u8));
  call.arguments.push_back(tensor(out, {1}, DType::i64));
  client_.must(call);
  const std::int64_t result = client_.download<std::int64_t>(out, 1)[0];
  client_.must(rpc::Free{in});
  client_.must(rpc::Free{out});
  return result;
}

rpc::Handle put(TestClient& client, const Bytes& file) {
  const rpc::Handle module = client.new_handle();
  const auto answer = client.must(rpc::PutModule{module, blake2b(file)}, file);
  CHECK(answer.reply.present);
  return module;
}

}  // namespace ferry::test
