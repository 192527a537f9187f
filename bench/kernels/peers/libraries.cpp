#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "bench/kernels/peer.h"
#include "bench/kernels/peers/blas.h"
#include "bench/kernels/peers/sleef.h"

namespace ferry::bench {

const std::vector<PeerLibrary>& peer_libraries() {
  static const std::vector<PeerLibrary> libraries = {{"onednn-debian", "ferry_peer_onednn_debian.so"},
                                                     {"onednn-gomp", "ferry_peer_onednn_gomp.so"},
                                                     {"onednn-sycl", "ferry_peer_onednn_sycl.so"},
                                                     {"openblas", ""},
                                                     {"mkl", ""},
                                                     {"sleef", ""}};
  return libraries;
}

std::unique_ptr<Peer> load_peer(const PeerLibrary& library) {
  if (library.key == "openblas") return load_openblas();
  if (library.key == "mkl") return load_mkl();
  if (library.key == "sleef") return load_sleef();
  // The libraries read these variables when they are loaded. The SYCL build finds its processor through OpenCL.
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OCL_ICD_FILENAMES", FERRY_BENCH_PACKAGES "/onednn-sycl/lib/libintelocl.so", 1);
  const std::string path = FERRY_PEER_FOLDER "/" + library.plugin;
  void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) throw std::runtime_error(dlerror());
  const auto make = reinterpret_cast<Peer* (*)()>(dlsym(plugin, "ferry_bench_peer"));
  if (make == nullptr) throw std::runtime_error(dlerror());
  return std::unique_ptr<Peer>(make());
}

}  // namespace ferry::bench
