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
  f.name = "f";
  f.symbols = {"n"};
  f.parameters = {{"A", ParameterKind::tensor, DType::f32, Direction::in, {manifest_symbol(0)}, {}},
                  {"more", ParameterKind::scalar, DType::f32, Direction::in, {}, {}},
                  {"C", ParameterKind::tensor, DType::f32, Direction::out, {manifest_symbol(0)}, {}}};
  const auto value = [&f](ManifestExpr expr) { return add_value(f.plan, 1, std::move(expr)); };
  f.plan.workspaces = {
      {0, value(manifest_apply(
              ManifestOp::add,
              {manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}), manifest_constant(256)}))}};
  const ValueIndex between = value(manifest_constant(256));
  LaunchStep twice, reversed;
  twice.kernel = "twice";
  twice.grid[0] = value(blocks_of(64));
  twice.block[0] = value(manifest_constant(64));
  twice.operands = {
      {OperandKind::argument, 0, kNoValue}, {OperandKind::workspace, 0, between}, {OperandKind::value, 0, kNoValue}};
  reversed.kernel = "reversed";
  reversed.grid[0] = value(blocks_of(16));
  reversed.block[0] = value(manifest_constant(16));
  reversed.operands = {{OperandKind::workspace, 0, between},
                       {OperandKind::argument, 2, kNoValue},
                       {OperandKind::scalar, 1, kNoValue},
                       {OperandKind::value, 0, kNoValue}};
  f.plan.steps = {twice, reversed};
  ModuleFile module;
  module.manifest.abi_version = 1;
  module.manifest.devices = {{"opencl", "", {}}};
  module.manifest.functions = {f};
  module.images = {{ImageKind::opencl_c, {source.begin(), source.end()}, 0}};
  REQUIRE(check_manifest(module.manifest).is_ok());
  return module;
}

LaunchStep& launch_of(ModuleFile& module, std::size_t step) {
  return std::get<LaunchStep>(module.manifest.functions[0].plan.steps[step]);
}

ValueIndex constant_value(ModuleFile& module, std::int64_t value) {
  FunctionInfo& f = module.manifest.functions[0];
  return add_value(f.plan, f.symbols.size(), manifest_constant(value));
}

ModuleFile with_verdict(ModuleFile module) {
  FunctionInfo& f = module.manifest.functions[0];
  f.messages = {"n is odd"};
  LaunchStep judge;
  judge.kernel = "judge";
  judge.operands = {{OperandKind::workspace, 0, kNoValue}, {OperandKind::value, 0, kNoValue}};
  f.plan.steps.insert(f.plan.steps.begin(), judge);
  launch_of(module, 2).result = {0, kNoValue};
  return module;
}

ModuleFile with_init_plan(ModuleFile module) {
  FunctionInfo& f = module.manifest.functions[0];
  f.parameters[0].is_constant = true;
  f.init = f.plan;
  f.persistent = {{0, f.plan.workspaces[0].bytes}};
  f.init.steps.pop_back();
  auto& twice = std::get<LaunchStep>(f.init.steps.back());
  twice.operands[1] = {OperandKind::persistent, 0, kNoValue};
  auto& reversed = std::get<LaunchStep>(f.plan.steps.back());
  reversed.operands[0] = twice.operands[1];
  std::swap(twice.result, reversed.result);
  f.plan.steps = {Step(reversed)};
  REQUIRE(check_manifest(module.manifest).is_ok());
  return module;
}

ModuleFile cuda_module() { return cuda_module({{"ptx-sm_80", kPtx}}); }

ModuleFile cuda_module(const std::vector<std::pair<std::string, std::string>>& images) {
  ModuleFile module = gpu_module();
  module.manifest.devices = {{"cuda", "", {}}};
  module.images.clear();
  for (const auto& [name, text] : images) {
    std::string arch = name;
    const ImageKind kind = take_image_kind(arch);
    module.images.push_back({kind, {text.begin(), text.end()}, 0, std::move(arch)});
  }
  return module;
}

}  // namespace ferry::test
