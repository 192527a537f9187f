#include "tests/unit/crosscompile/codegen/source/gpu_programs.h"

#include "crosscompile/passes/pipeline.h"
#include "ferry/lang/text.h"
#include "host/lower/lower.h"
#include "tests/support/gpu_schedules.h"

namespace ferry::codegen_test {
namespace {

const char* const kPerElement = "split i 64 -> b t\nbind b blockIdx.x\nbind t threadIdx.x";

}  // namespace

const std::vector<GpuProgram>& gpu_programs() {
  static const std::vector<GpuProgram> programs = {
      {"add",
       "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }",
       kPerElement,
       {{{"N", 1000}}, {{"N", 1}}}},
      {"add_vectors",
       "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }",
       "split i 64 -> b t\nsplit t 4 -> u e\nbind b blockIdx.x\nbind u threadIdx.x\nvectorize e",
       {{{"N", 203}}}},
      // Blocks of 8 x 16 elements, fetched and written four at a time where 16 bytes are aligned.
      {"vector_copies",
       "def f(float(32,64) A) -> (C) { C(i,j) = A(i,j) * 2 + 1 }",
       "A: cache_read shared -> AA\nC: tile i j 8 16 -> io jo ii ji\nsplit ji 4 -> t v\nbind io blockIdx.y\n"
       "bind jo blockIdx.x\nbind ii threadIdx.y\nbind t threadIdx.x\nvectorize v\nAA: compute_at C jo\n"
       "split i1 4 -> at av\nbind i0 threadIdx.y\nbind at threadIdx.x\nvectorize av",
       {{}}},
      {"integers",
       "def f(int32(N) A, int8(N) B, uint16(N) U, int64(N) L) -> (C, D, E) {\n"
       "  C(i) = A(i) * A(i) + int32(B(i)) / 3 - popcount(A(i))\n"
       "  D(i) = U(i) * U(i) - U(i) % 7 + clz(U(i))\n"
       "  E(i) = abs(L(i)) * 5000000000 + int64(A(i) >> 5)\n"
       "}",
       "C: split i 64 -> b t\nbind b blockIdx.x\nbind t threadIdx.x\nD: split i 64 -> b t\nbind b blockIdx.x\n"
       "bind t threadIdx.x\nE: split i 64 -> b t\nbind b blockIdx.x\nbind t threadIdx.x",
       {{{"N", 100}}}},
      {"floats",
       "def f(float16(N) A, bfloat16(N) B, float(N) X, double(N) Y) -> (C) {\n"
       "  C(i) = float(exp(A(i))) + sigmoid(float(B(i))) + sqrt(abs(X(i))) * float(tanh(Y(i))) + max(X(i), 0)\n"
       "         + float(int8(X(i) * 100))\n"
       "}",
       kPerElement,
       {{{"N", 300}}}},
      {"matmul_tiled",
       "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       test::kTiled + "CL: unroll ki\n",
       {{{"M", 13}, {"N", 9}, {"K", 11}}, {{"M", 8}, {"N", 16}, {"K", 4}}, {{"M", 3}, {"N", 17}, {"K", 0}}}},
      {"matmul_double_buffered",
       "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       test::kDoubleBuffered,
       {{{"M", 13}, {"N", 9}, {"K", 11}}, {{"M", 3}, {"N", 17}, {"K", 0}}}},
      {"matmul_pipelined",
       "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       test::kPipelined,
       {{{"M", 13}, {"N", 9}, {"K", 23}}, {{"M", 8}, {"N", 8}, {"K", 4}}}},
      {"matmul_virtual_threads",
       "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       test::kVirtual,
       {{{"M", 13}, {"N", 9}, {"K", 11}}}},
      {"two_kernels",
       "def two(float(N,M) A) -> (C) { B(i,j) = A(i,j) + 1  C(i,j) = B(i,j) * 2 }",
       "B: bind i blockIdx.x\nB: split j 8 -> jo ji\nB: bind ji threadIdx.x\nB: bind jo blockIdx.y\n"
       "C: bind i blockIdx.x\nC: split j 8 -> jo ji\nC: bind ji threadIdx.x",
       {{{"N", 5}, {"M", 21}}}},
      {"blur",
       "def blur(int(H,W) I) -> (B) { X(y,x) = I(y,x) + I(y,x+1) + I(y,x+2)  B(y,x) = X(y,x) + X(y+1,x) + X(y+2,x) }",
       "B: tile y x 4 8 -> yo xo yi xi\nB: bind yo blockIdx.y\nB: bind xo blockIdx.x\n"
       "B: bind yi threadIdx.y\nB: bind xi threadIdx.x\n"
       "X: compute_at B xi\nX: set_scope shared\n"
       "X: split y nparts 4 -> ty yy\nX: split x 8 -> xx tx\n"
       "X: bind ty threadIdx.y\nX: bind tx threadIdx.x\n",
       {{{"H", 10}, {"W", 18}}, {{"H", 13}, {"W", 21}}}},
      {"row_sums",
       "def rows(float(N,K) A) -> (C) { C(i) +=! A(i,k) }",
       test::row_by_block("C", 64),
       {{{"N", 3}, {"K", 200}}, {{"N", 2}, {"K", 5}}}},
      {"row_sums_of_an_odd_block",
       "def rows(double(N,K) A) -> (C) { C(i) +=! A(i,k) }",
       test::row_by_block("C", 72),
       {{{"N", 3}, {"K", 200}}}},
      {"greatest_of_rows",
       "def rows(int8(N,K) A) -> (C) { C(i) max=! A(i,k) }",
       test::rows_by_block("C", 4, 32),
       {{{"N", 6}, {"K", 75}}}},
      {"places_of_the_greatest",
       "def rows(float(N,K) A) -> (C) { C(i) argmax=! A(i,k) }",
       test::row_by_block("C", 128),
       {{{"N", 3}, {"K", 300}}}},
      {"column_sums",
       "def columns(float(K,N) A) -> (C) { C(i) +=! A(k,i) }",
       "split k 4 -> ko ki\nrfactor ki -> P\nC: split i 8 -> io ii\nbind io blockIdx.x\nbind ii threadIdx.x\n"
       "bind ki threadIdx.y\nP: compute_at C ki",
       {{{"N", 13}, {"K", 27}}}},
      {"softmax",
       "def softmax(float(N,K) A) -> (B) {\n"
       "  M(i) max=! A(i,k)\n  E(i,j) = exp(A(i,j) - M(i))\n  S(i) +=! E(i,k)\n  B(i,j) = E(i,j) / S(i)\n}",
       "split j 64 -> jo ji\nbind i blockIdx.x\nbind ji threadIdx.x\n"
       "E: compute_inline\n"
       "S: split k 64 -> ko ki\nS: rfactor ki -> PS\nS: compute_at B i\nS: bind ki threadIdx.x\nPS: compute_at S ki\n"
       "S: set_scope local\n"
       "M: split k 64 -> ko ki\nM: rfactor ki -> PM\nM: compute_at B i\nM: bind ki threadIdx.x\nPM: compute_at M ki\n"
       "M: set_scope local",
       {{{"N", 3}, {"K", 150}}}},
  };
  return programs;
}

ir::Function compiled_for(const GpuProgram& program, const Target& target) {
  const lang::Program parsed = lang::parse(program.source, program.name + ".tc").at(0);
  return passes::run_pipeline(lower::lower(parsed, schedule::Schedule::replay(parsed, program.schedule)), target);
}

}  // namespace ferry::codegen_test
