// SLEEF's vector math, for this machine's widest vectors.
#pragma once

#include "bench/kernels/peer.h"

namespace ferry::bench {

std::unique_ptr<Peer> load_sleef();

}  // namespace ferry::bench
