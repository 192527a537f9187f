// Schedules for GPUs: for a matrix product, a stage C over m and n that sums A(m, k) * B(k, n), and for stages over i
// that reduce over k.
#pragma once

#include <string>

namespace ferry::test {

// 16 threads with 2 x 2 elements each; all threads together fetch both inputs in tiles with a depth of 4.
inline const std::string kTiled = R"(cache_write local -> CL
A: cache_read shared CL -> AA
B: cache_read shared CL -> BB
C: split m 8 -> my mi
C: split mi 2 -> ty yi
C: split n 8 -> nx ni
C: split ni 2 -> tx xi
C: reorder my nx ty tx yi xi
C: bind my blockIdx.y
C: bind nx blockIdx.x
C: bind ty threadIdx.y
C: bind tx threadIdx.x
CL: compute_at C tx
CL: split k 4 -> ko ki
CL: reorder ko ki m n
AA: compute_at CL ko
AA: split i0 nparts 4 -> ay ai
AA: split i1 nparts 4 -> ax aj
AA: bind ay threadIdx.y
AA: bind ax threadIdx.x
BB: compute_at CL ko
BB: split i0 nparts 4 -> by bi
BB: split i1 nparts 4 -> bx bj
BB: bind by threadIdx.y
BB: bind bx threadIdx.x
)";

// The next tiles are fetched while the current ones are used.
inline const std::string kDoubleBuffered = kTiled + "AA: double_buffer\nBB: double_buffer\n";
inline const std::string kPipelined = kTiled + "AA: double_buffer 3\nBB: double_buffer 3\n";

// The same tile with two virtual threads along n: the columns of a thread are four apart.
inline const std::string kVirtual = R"(cache_write local -> CL
A: cache_read shared CL -> AA
B: cache_read shared CL -> BB
C: split m 8 -> my mi
C: split n 8 -> nx ni
C: split ni nparts 2 -> vx tx
C: reorder my nx vx mi tx
C: bind my blockIdx.y
C: bind nx blockIdx.x
C: bind vx vthread
C: bind mi threadIdx.y
C: bind tx threadIdx.x
CL: compute_at C tx
CL: split k 4 -> ko ki
CL: reorder ko ki m n
AA: compute_at CL ko
AA: bind i0 threadIdx.y
AA: bind i1 threadIdx.x
BB: compute_at CL ko
BB: fuse i0 i1 -> f
BB: split f 4 -> by bx
BB: bind by threadIdx.y
BB: bind bx threadIdx.x
)";

// One block for each i, whose threads reduce over k.
inline std::string row_by_block(const std::string& stage, int threads) {
  return stage + ": split k " + std::to_string(threads) + " -> ko ki\n" + stage + ": rfactor ki -> partial\n" + stage +
         ": bind i blockIdx.x\n" + stage + ": bind ki threadIdx.x\npartial: compute_at " + stage + " ki\n";
}

// The same with several i in each block.
inline std::string rows_by_block(const std::string& stage, int rows, int threads) {
  return stage + ": split k " + std::to_string(threads) + " -> ko ki\n" + stage + ": rfactor ki -> partial\n" + stage +
         ": split i " + std::to_string(rows) + " -> io ii\n" + stage + ": bind io blockIdx.x\n" + stage +
         ": bind ii threadIdx.y\n" + stage + ": bind ki threadIdx.x\npartial: compute_at " + stage + " ki\n";
}

}  // namespace ferry::test
