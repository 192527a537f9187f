// The two libraries with a CBLAS interface, loaded through dlopen, so that building needs neither of them.
#pragma once

#include "bench/kernels/peer.h"

namespace ferry::bench {

std::unique_ptr<Peer> load_openblas();
// Uses its vector math with an accuracy of up to 4 ulp.
std::unique_ptr<Peer> load_mkl();

}  // namespace ferry::bench
