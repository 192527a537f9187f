// A manifest that uses every field, for the tests of this folder.
#pragma once

#include "module/manifest.h"

namespace ferry {

// mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)
inline FunctionInfo sample_mm() {
  const ManifestExpr m = manifest_symbol(0);
  const ManifestExpr k = manifest_symbol(1);
  const ManifestExpr n = manifest_symbol(2);
  FunctionInfo mm;
  mm.name = "mm";
  mm.symbols = {"M", "K", "N"};
  mm.parameters = {{"A", ParameterKind::tensor, DType::f32, Direction::in, {m, k}, {}},
                   {"B", ParameterKind::tensor, DType::f32, Direction::in, {k, n}, {}},
                   {"C", ParameterKind::tensor, DType::f32, Direction::out, {m, n}, {}}};
  set_native_code(mm, {"ferry_mm", {}, manifest_apply(ManifestOp::mul, {k, manifest_constant(64)})});
  mm.flops = manifest_apply(
      ManifestOp::mul,
      {manifest_apply(ManifestOp::mul, {manifest_apply(ManifestOp::mul, {m, n}), k}), manifest_constant(2)});
  return mm;
}

// slice(in f32[n] A, in i64 b, in i64 s, in f64 alpha, inout f32[(n - b) / s] Y), with a size computed from scalars.
inline FunctionInfo sample_slice() {
  const ManifestExpr n = manifest_symbol(0);
  const ManifestExpr b = manifest_symbol(1);
  const ManifestExpr s = manifest_symbol(2);
  FunctionInfo slice;
  slice.name = "slice";
  slice.symbols = {"n", "b", "s"};
  slice.parameters = {{"A", ParameterKind::tensor, DType::f32, Direction::in, {n}, {}},
                      {"b", ParameterKind::scalar, DType::i64, Direction::in, {}, {}},
                      {"s", ParameterKind::scalar, DType::i64, Direction::in, {}, {}},
                      {"alpha", ParameterKind::scalar, DType::f64, Direction::in, {}, {}},
                      {"Y",
                       ParameterKind::tensor,
                       DType::f32,
                       Direction::inout,
                       {manifest_apply(ManifestOp::floordiv, {manifest_apply(ManifestOp::sub, {n, b}), s})},
                       {}}};
  slice.preconditions = {{manifest_apply(ManifestOp::le, {b, n}), "the slice begins inside"},
                         {manifest_apply(ManifestOp::lt, {manifest_constant(0), s}), ""}};
  set_native_code(slice, {"ferry_slice", manifest_apply(ManifestOp::mul, {n, manifest_constant(4)}), {}});
  slice.messages = {"index out of range"};
  return slice;
}

// layer(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C), with a constant B that an init plan on the CPU copies, and a
// plan with every kind of step and operand.
inline FunctionInfo sample_layer() {
  FunctionInfo layer = sample_mm();
  layer.name = "layer";
  layer.parameters[1].is_constant = true;
  layer.parameters[2].device = 1;
  layer.messages = {"first", "second"};
  const auto product = [](ValueIndex a, ValueIndex b) {
    return manifest_apply(ManifestOp::mul, {manifest_symbol(a), manifest_symbol(b)});
  };
  Plan& plan = layer.plan;
  plan = {};
  const ValueIndex rows = add_value(plan, 3, product(0, 2));
  const ValueIndex bytes =
      add_value(plan, 3, manifest_apply(ManifestOp::mul, {manifest_symbol(rows), manifest_constant(4)}));
  const ValueIndex line = add_value(plan, 3, manifest_constant(256));
  plan.workspaces = {{0, bytes}, {1, line}};
  CallStep call;
  call.symbol = "ferry_layer";
  call.operands = {{OperandKind::argument, 0, kNoValue},
                   {OperandKind::persistent, 0, kNoValue},
                   {OperandKind::constant, 0, line},
                   {OperandKind::workspace, 0, kNoValue},
                   {OperandKind::value, rows, kNoValue}};
  call.workspace = {0, line};
  call.thread_workspace = line;
  LaunchStep launch;
  launch.device = 1;
  launch.kernel = "layer_kernel0";
  launch.grid = {rows, kNoValue, 1};
  launch.block[0] = line;
  launch.shared_bytes = line;
  launch.operands = {{OperandKind::argument, 2, line}, {OperandKind::value, 2, kNoValue}};
  launch.result = {1, kNoValue};
  launch.first_message = 1;
  const CopyStep copy{{OperandKind::argument, 2, kNoValue}, {OperandKind::workspace, 0, kNoValue}, bytes};
  const FillStep fill{{OperandKind::workspace, 1, kNoValue}, line, 4, 0xff800000};
  plan.steps = {fill, call, copy, launch};
  Plan& init = layer.init;
  const ValueIndex packed = add_value(init, 3, manifest_apply(ManifestOp::mul, {product(1, 2), manifest_constant(4)}));
  layer.persistent = {{0, packed}};
  init.workspaces = {{0, packed}};
  init.steps = {CopyStep{{OperandKind::persistent, 0, kNoValue}, {OperandKind::argument, 1, kNoValue}, packed}};
  return layer;
}

inline Manifest sample_manifest() {
  Manifest manifest;
  manifest.abi_version = 1;
  manifest.devices = {{"cpu", "x86_64", {"avx2", "fma"}}, {"cuda", "", {}}};
  manifest.target = "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell";
  manifest.blobs = {{Hash{1, 2, 3}, 4096}};
  manifest.constants = {{0, 0, 1024, 3072}};
  manifest.functions = {sample_mm(), sample_slice(), sample_layer()};
  return manifest;
}

inline ArgumentShape tensor(DType dtype, std::vector<std::int64_t> shape) {
  return {ParameterKind::tensor, dtype, std::move(shape), 0};
}
inline ArgumentShape scalar(DType dtype, std::int64_t value) { return {ParameterKind::scalar, dtype, {}, value}; }

}  // namespace ferry
