#include "tests/unit/device-runtime/support/memory_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "ferry/runtime_api.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

const char* const kSource = R"C(
#include "ferry/runtime_api.h"
#define KERNEL(name) int32_t name(void* const* args, const ferry_runtime_api* rt)
typedef unsigned char byte;

#if defined(__x86_64__)
enum { kRead = 0, kClose = 3, kOpen = 257, kFutex = 202 };
static long call(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__arm__)
enum { kRead = 3, kClose = 6, kOpen = 322, kFutex = 240 };
static long call(long number, long a, long b, long c, long d) {
  register long r7 __asm__("r7") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3) : "memory");
  return r0;
}
#else
enum { kRead = 63, kClose = 57, kOpen = 56, kFutex = 98 };
static long call(long number, long a, long b, long c, long d) {
#if defined(__aarch64__)
  register long n __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(n), "r"(x1), "r"(x2), "r"(x3) : "memory");
#else
  register long n __asm__("a7") = number;
  register long x0 __asm__("a0") = a;
  register long x1 __asm__("a1") = b;
  register long x2 __asm__("a2") = c;
  register long x3 __asm__("a3") = d;
  __asm__ volatile("ecall" : "+r"(x0) : "r"(n), "r"(x1), "r"(x2), "r"(x3) : "memory");
#endif
  return x0;
}
#endif

struct region { uintptr_t begin, end; char mode[4]; byte is_special; };
static struct region regions[4096];
static char text[1 << 19];

static const char* number(const char* at, uintptr_t* value) {
  for (*value = 0;; ++at) {
    if (*at >= '0' && *at <= '9') *value = *value * 16 + (uintptr_t)(*at - '0');
    else if (*at >= 'a' && *at <= 'f') *value = *value * 16 + (uintptr_t)(*at - 'a' + 10);
    else return at + 1;
  }
}

/* The number of regions of this process; negative when the system does not tell, and nobody else has. */
static long find_regions(const byte* given, int64_t given_length) {
  long length = 0, count = 0, part;
  if (given[0]) {
    for (; length < (long)sizeof text - 1 && length < given_length && given[length]; ++length) text[length] = (char)given[length];
  } else {
    const long file = call(kOpen, -100, (long)"/proc/self/maps", 0, 0);
    if (file < 0) return file;
    while (length < (long)sizeof text - 1 && (part = call(kRead, file, (long)(text + length), (long)sizeof text - 1 - length, 0)) > 0) {
      length += part;
    }
    call(kClose, file, 0, 0, 0);
  }
  text[length] = 0;
  for (const char* at = text; *at && count < 4096; ++count) {
    struct region* r = &regions[count];
    at = number(number(at, &r->begin), &r->end);
    for (int i = 0; i < 4; ++i) r->mode[i] = at[i];
    r->is_special = 0;
    while (*at && *at != '\n') {
      if (*at == '[' && at[1] == 'v') r->is_special = 1;
      ++at;
    }
    if (*at) ++at;
  }
  return count;
}

/* Whether a page is there: what others say of the regions may have changed since. */
static int is_readable(uintptr_t page) {
  static const long no_time[2];
  return call(kFutex, (long)page, 128, 0x5a17c0de, (long)no_time) != -14;
}

KERNEL(search) {
  const volatile byte* pieces = args[0];
  int64_t* counts = args[1];
  const byte* const maps = args[2];
  const int64_t n = *(int64_t*)args[3], m = *(int64_t*)args[4];
  static byte starts[256];
  for (int64_t i = 0; i < n; ++i) counts[i] = 0;
  for (int i = 0; i < 256; ++i) starts[i] = 0;
  for (int64_t p = 0; p + 16 <= n; p += 16) starts[(byte)~pieces[p]] = 1;
  const long count = find_regions(maps, m);
  if (count <= 0) return 1;
  for (long i = 0; i < count; ++i) {
    if (regions[i].mode[0] != 'r' || regions[i].is_special) continue;
    uintptr_t last = regions[i].begin;
    while (last < regions[i].end && is_readable(last)) last += 4096;
    if (last == regions[i].begin) continue;
    const byte* const end = (const byte*)last - 15;
    for (const byte* at = (const byte*)regions[i].begin; at < end; ++at) {
      if (!starts[*at]) continue;
      for (int64_t p = 0; p + 16 <= n; p += 16) {
        int same = 0;
        while (same < 16 && at[same] == (byte)~pieces[p + same]) ++same;
        counts[p] += same == 16;
      }
    }
  }
  return 0;
}

KERNEL(overwrite_shared) {
  const byte value = (byte)*(int64_t*)args[0];
  const long count = find_regions(args[2], *(int64_t*)args[3]);
  int found = 0;
  for (long i = 0; i < count; ++i) {
    if (regions[i].mode[1] != 'w' || regions[i].mode[3] != 's') continue;
    ++found;
    for (volatile byte* at = (byte*)regions[i].begin; at < (byte*)regions[i].end; ++at) *at = value;
  }
  for (volatile int64_t spins = *(int64_t*)args[1]; spins;) {}
  return found ? 0 : 1;
}

KERNEL(overrun) {
  const int64_t bytes = *(int64_t*)args[0], step = *(int64_t*)args[1], n = *(int64_t*)args[3];
  volatile byte* at = (byte*)args[2] + (step > 0 ? n : -1);
  for (int64_t i = 0; i < bytes; ++i) at[i * step] = 'A';
  return 0;
}

KERNEL(print) {
  rt->print(rt, (const char*)args[0], (size_t)*(int64_t*)args[1]);
  return 0;
}
)C";

// What /proc says of the process's memory; its size is the function's symbol of this number.
ParameterInfo maps_parameter(std::uint32_t symbol) {
  ParameterInfo parameter = tensor_parameter("M", Direction::in, DType::u8);
  parameter.shape = {manifest_symbol(symbol)};
  return parameter;
}

FunctionInfo function(const char* name, std::vector<ParameterInfo> parameters) {
  FunctionInfo info;
  info.name = name;
  for (const ParameterInfo& each : parameters) {
    if (each.kind == ParameterKind::tensor && each.name != "M") info.symbols = {"n"};
  }
  for (const ParameterInfo& each : parameters) {
    if (each.name == "M") info.symbols.push_back("m");
  }
  info.parameters = std::move(parameters);
  set_native_code(info, {name, {}, {}});
  info.messages = {"/proc/self/maps says nothing of what is wanted"};
  return info;
}

constexpr std::int64_t kMaxMaps = 1 << 18;

}  // namespace

rpc::Argument maps_of(TestClient& client) {
  const rpc::Handle buffer = client.upload(Bytes(static_cast<std::size_t>(kMaxMaps)));
  if (is_native()) {
    std::ifstream file("/proc/" + std::to_string(client.opened().process) + "/maps");
    std::string maps(std::istreambuf_iterator<char>(file), {});
    maps.resize(std::min<std::size_t>(maps.size(), kMaxMaps - 1));
    REQUIRE_MESSAGE(!maps.empty(), "only root may inspect the memory of sessions");
    client.must(rpc::Write{buffer, 0}, {reinterpret_cast<const std::uint8_t*>(maps.data()), maps.size()});
  }
  return tensor(buffer, {kMaxMaps}, DType::u8);
}

const Bytes& memory_kernels() {
  static const Bytes file = [] {
    ModuleFile module;
    module.manifest.abi_version = FERRY_ABI_VERSION;
    module.manifest.devices = {{"cpu", server_arch(), {}}};
    module.manifest.target = "tests";
    module.manifest.functions = {
        function("search", {tensor_parameter("P", Direction::in, DType::u8),
                            tensor_parameter("C", Direction::out, DType::i64), maps_parameter(1)}),
        function("overwrite_shared",
                 {scalar_parameter("byte", DType::i64), scalar_parameter("then_spin", DType::i64), maps_parameter(0)}),
        function("overrun", {scalar_parameter("bytes", DType::i64), scalar_parameter("step", DType::i64),
                             tensor_parameter("A", Direction::inout, DType::u8)}),
        function("print", {tensor_parameter("T", Direction::in, DType::u8)})};
    KernelOptions options;
    options.arch = server_arch();
    module.images.push_back({ImageKind::elf, compile_kernel(kSource, options)});
    module.source = kSource;
    return write_module(module);
  }();
  return file;
}

void Secrets::add(std::string name, const std::uint8_t* bytes, std::size_t count) {
  for (std::size_t begin = 0; begin + kPiece <= count; begin += kPiece) {
    names_.push_back(name);
    for (std::size_t i = 0; i < kPiece; ++i) turned_.push_back(static_cast<std::uint8_t>(~bytes[begin + i]));
  }
}

std::string Secrets::found_by(TestClient& client) const {
  const auto size = static_cast<std::int64_t>(turned_.size());
  const rpc::Handle module = put(client, memory_kernels());
  const rpc::Handle pieces = client.upload(turned_), counts = client.upload(std::vector<std::int64_t>(turned_.size()));
  client.must(rpc::Call{
      module, "search", {tensor(pieces, {size}, DType::u8), tensor(counts, {size}, DType::i64), maps_of(client)}});
  const auto found = client.download<std::int64_t>(counts, turned_.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool is_new = std::find(names.begin(), names.end(), names_[i]) == names.end();
    if (found[i * kPiece] != 0 && is_new) names.push_back(names_[i]);
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace ferry::test
