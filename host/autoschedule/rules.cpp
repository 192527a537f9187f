#include "host/autoschedule/rules.h"

#include "host/autoschedule/block_sums.h"
#include "host/autoschedule/blocked_contraction.h"
#include "host/autoschedule/blocked_window.h"
#include "host/autoschedule/gemv.h"
#include "host/autoschedule/gpu_contraction.h"
#include "host/autoschedule/gpu_elements.h"
#include "host/autoschedule/gpu_reduction.h"
#include "host/autoschedule/gpu_rows.h"
#include "host/autoschedule/in_sequence.h"
#include "host/autoschedule/injective.h"
#include "host/autoschedule/inner_products.h"
#include "host/autoschedule/packed_dots.h"
#include "host/autoschedule/reduction.h"
#include "host/autoschedule/stencil.h"
#include "host/autoschedule/tile_products.h"
#include "host/autoschedule/transposed.h"

namespace ferry::autoschedule {

namespace {

constexpr Rule kCpuRules[] = {
    {"in_sequence", match_in_sequence},
    {"packed_dots", match_packed_dots},
    {"tile_products", match_tile_products},
    {"block_sums", match_block_sums},
    {"blocked_contraction", match_blocked_contraction},
    {"gemv", match_gemv},
    {"inner_products", match_inner_products},
    {"stencil", match_stencil},
    {"blocked_window", match_blocked_window},
    {"reduction", match_reduction},
    {"transposed", match_transposed},
    {"injective", match_injective},
};

constexpr Rule kGpuRules[] = {
    {"gpu_sequences", match_gpu_sequences}, {"gpu_contraction", match_gpu_contraction},
    {"gpu_elements", match_gpu_elements},   {"gpu_rows", match_gpu_rows},
    {"gpu_reduction", match_gpu_reduction},
};

}  // namespace

std::span<const Rule> cpu_rules() { return kCpuRules; }

std::span<const Rule> gpu_rules() { return kGpuRules; }

}  // namespace ferry::autoschedule
