// The two libraries that speak CBLAS, reached through dlopen: nothing of them is needed to build.
#pragma once

#include "bench/kernels/peer.h"

namespace ferry::bench {

std::unique_ptr<Peer> load_openblas();
// With its vector math, in the accuracy of up to 4 ulp.
std::unique_ptr<Peer> load_mkl();

}  // namespace ferry::bench
