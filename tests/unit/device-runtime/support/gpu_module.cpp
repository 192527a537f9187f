#include "tests/unit/device-runtime/support/gpu_module.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

const char* const kSource = R"(
kernel void twice(global const float* a, global float* w, long n) {
  size_t i = get_global_id(0);
  if (i < n) w[i] = 2 * a[i];
}
kernel void reversed(global const float* w, global float* c, float more, long n) {
  local float tile[16];
  size_t i = get_group_id(0) * 16 + get_local_id(0);
  tile[get_local_id(0)] = i < n ? w[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) c[n - 1 - i] = tile[get_local_id(0)] + more;
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

}  // namespace ferry::test
