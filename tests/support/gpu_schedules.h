// Schedules for GPUs: of a matrix product, a stage C over m and n that sums A(m, k) * B(k, n), and of stages over i
// that combine over k.
#pragma once

#include <string>

namespace ferry::test {

// 16 threads, 2 x 2 elements each; both inputs come in tiles of 4 that all threads fetch together.
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

// The next tiles are fetched while these are used.
inline const std::string kDoubleBuffered = kTiled + "AA: double_buffer\nBB: double_buffer\n";
inline const std::string kPipelined = kTiled + "AA: double_buffer 3\nBB: double_buffer 3\n";

// The same tile in two virtual threads along n: a thread's columns lie four apart.
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

// A block for each i, whose threads combine over k.
inline std::string row_by_block(const std::string& stage, int threads) {
  return stage + ": split k " + std::to_string(threads) + " -> ko ki\n" + stage + ": rfactor ki -> partial\n" + stage +
         ": bind i blockIdx.x\n" + stage + ": bind ki threadIdx.x\npartial: compute_at " + stage + " ki\n";
}

// The same for several i a block.
inline std::string rows_by_block(const std::string& stage, int rows, int threads) {
  return stage + ": split k " + std::to_string(threads) + " -> ko ki\n" + stage + ": rfactor ki -> partial\n" + stage +
         ": split i " + std::to_string(rows) + " -> io ii\n" + stage + ": bind io blockIdx.x\n" + stage +
         ": bind ii threadIdx.y\n" + stage + ": bind ki threadIdx.x\npartial: compute_at " + stage + " ki\n";
}

}  // namespace ferry::test
