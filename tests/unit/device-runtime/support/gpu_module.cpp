#include "tests/unit/device-runtime/support/gpu_module.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

const char* const kSource = R"(
kernel void twice(global const float* a, global float* w, long n) {
  size_t i = get_global_id(0);
  if (i < n) w[i] = 2 * a[i];
}
kernel void judge(global int* verdict, long n) { *verdict = n % 2; }
kernel void reversed(global const float* w, global float* c, float more, long n) {
  local float tile[16];
  size_t i = get_group_id(0) * 16 + get_local_id(0);
  tile[get_local_id(0)] = i < n ? w[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) c[n - 1 - i] = tile[get_local_id(0)] + more;
}
)";

// The same kernels; a block of the second one has a slot in shared memory for each of its 16 threads.
const char* const kPtx = R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry twice(.param .u64 a, .param .u64 w, .param .u64 n)
{
  .reg .pred %past;
  .reg .b32 %block, %threads, %thread;
  .reg .b64 %i, %count, %from, %to;
  .reg .f32 %x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %thread, %block, %threads, %thread;
  cvt.u64.u32 %i, %thread;
  ld.param.u64 %count, [n];
  setp.ge.s64 %past, %i, %count;
  @%past bra end;
  shl.b64 %i, %i, 2;
  ld.param.u64 %from, [a];
  ld.param.u64 %to, [w];
  add.s64 %from, %from, %i;
  add.s64 %to, %to, %i;
  ld.global.f32 %x, [%from];
  add.f32 %x, %x, %x;
  st.global.f32 [%to], %x;
end:
  ret;
}

.visible .entry judge(.param .u64 verdict, .param .u64 n)
{
  .reg .b32 %odd;
  .reg .b64 %count, %to;
  ld.param.u64 %count, [n];
  cvt.u32.u64 %odd, %count;
  and.b32 %odd, %odd, 1;
  ld.param.u64 %to, [verdict];
  st.global.u32 [%to], %odd;
  ret;
}

.visible .entry reversed(.param .u64 w, .param .u64 c, .param .f32 more, .param .u64 n)
{
  .reg .pred %past;
  .reg .b32 %block, %threads, %thread, %place, %x_base;
  .reg .b64 %i, %count, %from, %to;
  .reg .f32 %x, %y;
  .shared .align 4 .b8 tile[64];
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  shl.b32 %place, %thread, 2;
  mov.u32 %x_base, tile;
  add.u32 %place, %place, %x_base;
  mad.lo.u32 %thread, %block, %threads, %thread;
  cvt.u64.u32 %i, %thread;
  ld.param.u64 %count, [n];
  setp.ge.s64 %past, %i, %count;
  mov.f32 %x, 0f00000000;
  @%past bra store;
  shl.b64 %from, %i, 2;
  ld.param.u64 %to, [w];
  add.s64 %from, %from, %to;
  ld.global.f32 %x, [%from];
store:
  st.shared.f32 [%place], %x;
  bar.sync 0;
  @%past bra end;
  ld.shared.f32 %x, [%place];
  ld.param.f32 %y, [more];
  add.f32 %x, %x, %y;
  sub.s64 %i, %count, %i;
  sub.s64 %i, %i, 1;
  shl.b64 %i, %i, 2;
  ld.param.u64 %to, [c];
  add.s64 %to, %to, %i;
  st.global.f32 [%to], %x;
end:
  ret;
}
)";

ManifestExpr blocks_of(std::int64_t threads) {
  return manifest_apply(ManifestOp::floordiv,
                        {manifest_apply(ManifestOp::add, {manifest_symbol(0), manifest_constant(threads - 1)}),
                         manifest_constant(threads)});
}

}  // namespace

ModuleFile gpu_module(const std::string& text) {
  const std::string source = text.empty() ? kSource : text;
  FunctionInfo f;
  f.name = f.symbol = "f";
  f.symbols = {"n"};
  f.parameters = {{"A", ParameterKind::tensor, DType::f32, Direction::in, {manifest_symbol(0)}, {}},
                  {"more", ParameterKind::scalar, DType::f32, Direction::in, {}, {}},
                  {"C", ParameterKind::tensor, DType::f32, Direction::out, {manifest_symbol(0)}, {}}};
  f.call_workspace = manifest_apply(
      ManifestOp::add,
      {manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}), manifest_constant(256)});
  Step twice, reversed;
  twice.launch = {"twice", {blocks_of(64), {}, {}}, {manifest_constant(64), {}, {}}, {}, {}};
  twice.launch.operands = {{OperandKind::argument, 0, {}},
                           {OperandKind::call_workspace, 0, manifest_constant(256)},
                           {OperandKind::symbol, 0, {}}};
  reversed.launch = {"reversed", {blocks_of(16), {}, {}}, {manifest_constant(16), {}, {}}, {}, {}};
  reversed.launch.operands = {{OperandKind::call_workspace, 0, manifest_constant(256)},
                              {OperandKind::argument, 2, {}},
                              {OperandKind::scalar, 1, {}},
                              {OperandKind::symbol, 0, {}}};
  f.plan = {twice, reversed};
  ModuleFile module;
  module.manifest.abi_version = 1;
  module.manifest.arch = "opencl";
  module.manifest.functions = {f};
  module.images = {{"opencl-c", {source.begin(), source.end()}}};
  REQUIRE(check_manifest(module.manifest).is_ok());
  return module;
}

ModuleFile with_verdict(ModuleFile module) {
  FunctionInfo& f = module.manifest.functions[0];
  f.messages = {"n is odd"};
  Step judge;
  judge.launch = {"judge", {}, {}, {}, {{OperandKind::call_workspace, 0, {}}, {OperandKind::symbol, 0, {}}}};
  f.plan.insert(f.plan.begin(), judge);
  return module;
}

ModuleFile cuda_module() { return cuda_module({{"ptx-sm_80", kPtx}}); }

ModuleFile cuda_module(const std::vector<std::pair<std::string, std::string>>& images) {
  ModuleFile module = gpu_module();
  module.manifest.arch = "cuda";
  module.images.clear();
  for (const auto& [kind, text] : images) module.images.push_back({kind, {text.begin(), text.end()}});
  return module;
}

}  // namespace ferry::test
