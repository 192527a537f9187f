// SLEEF's vector math for the widest vectors of this machine.
#pragma once

#include "bench/kernels/peer.h"

namespace ferry::bench {

std::unique_ptr<Peer> load_sleef();

}  // namespace ferry::bench
