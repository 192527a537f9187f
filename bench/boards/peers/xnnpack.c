// Operators of XNNPACK, which takes images with their channels last:
//
//     xnnpack FUNCTION SIZE...        (the functions of kernels.tc, and the sizes in the order of cases.py)
#include <math.h>
#include <stdio.h>
#include <xnnpack.h>

#include "bench/boards/peers/peer.h"

static const float kInf = INFINITY;

static enum xnn_status convolution(xnn_operator_t* op, int groups, int C, int O, int S, int side, int step) {
  const int pad = side / 2, R = (S + 2 * pad - side) / step + 1;
  const float least = side == 1 ? 0 : -kInf, greatest = side == 1 ? 6 : kInf;  // as the kernel of 1x1 ends
  const enum xnn_status status = xnn_create_convolution2d_nhwc_f32(
      pad, pad, pad, pad, side, side, step, step, 1, 1, groups, C, O, groups * C, groups * O,
      floats(groups * O * side * side * C), floats(groups * O), least, greatest, 0, op);
  return status != xnn_status_success ? status
                                      : xnn_setup_convolution2d_nhwc_f32(*op, 1, S, S, floats(groups * C * S * S),
                                                                         floats(groups * O * R * R), NULL);
}

static enum xnn_status product(xnn_operator_t* op, int M, int N, int K) {
  const enum xnn_status status = xnn_create_fully_connected_nc_f32(K, N, K, N, floats(N * K), NULL, -kInf, kInf, 0, op);
  return status != xnn_status_success ? status
                                      : xnn_setup_fully_connected_nc_f32(*op, M, floats(M * K), floats(M * N), NULL);
}

// The sums are scaled to int8, which ferry's kernel leaves out.
static enum xnn_status product_int8(xnn_operator_t* op, int M, int N, int K) {
  const enum xnn_status status = xnn_create_fully_connected_nc_qs8(K, N, K, N, 0, 0.1F, 0.1F, bytes(N * K), ints(N), 0,
                                                                   1, INT8_MIN, INT8_MAX, 0, op);
  return status != xnn_status_success ? status
                                      : xnn_setup_fully_connected_nc_qs8(*op, M, bytes(M * K), bytes(M * N), NULL);
}

static enum xnn_status softmax(xnn_operator_t* op, int M, int N) {
  const enum xnn_status status = xnn_create_softmax_nc_f32(N, N, N, 0, op);
  return status != xnn_status_success ? status : xnn_setup_softmax_nc_f32(*op, M, floats(M * N), floats(M * N), NULL);
}

static enum xnn_status make(xnn_operator_t* op, const char* function, int s, int t, int u) {
  if (strcmp(function, "product") == 0) return product(op, s, t, u);
  if (strcmp(function, "product_int8") == 0) return product_int8(op, s, t, u);
  if (strcmp(function, "convolution") == 0) return convolution(op, 1, s, t, u, 3, 1);
  if (strcmp(function, "pointwise") == 0) return convolution(op, 1, s, t, (int)lround(sqrt(u)), 1, 1);
  if (strcmp(function, "depthwise") == 0) return convolution(op, s, 1, 1, t, 3, 1);
  if (strcmp(function, "depthwise_by_two") == 0) return convolution(op, s, 1, 1, t, 3, 2);
  if (strcmp(function, "softmax") == 0) return softmax(op, s, t);
  return xnn_status_invalid_parameter;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  fill_pools();
  xnn_operator_t op = NULL;
  enum xnn_status status = xnn_initialize(NULL);
  if (status == xnn_status_success)
    status = make(&op, argv[1], size(argc, argv, 2), size(argc, argv, 3), size(argc, argv, 4));
  for (int i = 0; i < 2 && status == xnn_status_success; ++i) count_call(status = xnn_run_operator(op, NULL));
  if (status != xnn_status_success) fprintf(stderr, "XNNPACK: status %d\n", (int)status);
  return status == xnn_status_success ? 0 : 1;
}
