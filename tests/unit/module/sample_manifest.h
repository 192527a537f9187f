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
  mm.symbol = "ferry_mm";
  mm.symbols = {"M", "K", "N"};
  mm.parameters = {{"A", ParameterKind::tensor, DType::f32, Direction::in, {m, k}, {}},
                   {"B", ParameterKind::tensor, DType::f32, Direction::in, {k, n}, {}},
                   {"C", ParameterKind::tensor, DType::f32, Direction::out, {m, n}, {}}};
  mm.thread_workspace = manifest_apply(ManifestOp::mul, {k, manifest_constant(64)});
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
  slice.symbol = "ferry_slice";
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
  slice.call_workspace = manifest_apply(ManifestOp::mul, {n, manifest_constant(4)});
  slice.messages = {"index out of range"};
  return slice;
}

// A plan of sample_slice() on a GPU: two kernels that communicate through the workspace.
inline Plan sample_plan() {
  const ManifestExpr blocks = manifest_apply(ManifestOp::floordiv, {manifest_symbol(0), manifest_constant(64)});
  Step first, second;
  first.launch = {"slice_kernel0", {blocks, {}, {}}, {manifest_constant(64), {}, {}}, {}, {}};
  first.launch.operands = {{OperandKind::argument, 0, {}},
                           {OperandKind::call_workspace, 0, manifest_constant(256)},
                           {OperandKind::scalar, 3, {}},
                           {OperandKind::symbol, 1, {}}};
  second.launch = {"slice_kernel1", {blocks, {}, {}}, {manifest_constant(64), {}, {}}, manifest_constant(4096), {}};
  second.launch.operands = {{OperandKind::call_workspace, 0, {}}, {OperandKind::argument, 4, {}}};
  return {first, second};
}

inline Manifest sample_manifest() {
  Manifest manifest;
  manifest.abi_version = 1;
  manifest.arch = "x86_64";
  manifest.features = {"avx2", "fma"};
  manifest.target = "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell";
  manifest.functions = {sample_mm(), sample_slice()};
  return manifest;
}

inline ArgumentShape tensor(DType dtype, std::vector<std::int64_t> shape) {
  return {ParameterKind::tensor, dtype, std::move(shape), 0};
}
inline ArgumentShape scalar(DType dtype, std::int64_t value) { return {ParameterKind::scalar, dtype, {}, value}; }

}  // namespace ferry
