#include "farm/store/libpq_api.h"

#include <dlfcn.h>

#include "base/format.h"

namespace ferry::farm {

Result<LibpqApi> load_libpq(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Status(ErrorCode::unsupported,
                  format("this machine has no %s, which PostgreSQL needs; install Debian's package libpq5", library));
  LibpqApi api;
#define FERRY_LIBPQ_LOAD(name)                                          \
  api.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name)); \
  if (api.name == nullptr)                                              \
    return Status(ErrorCode::unsupported, format("this machine's %s has no " #name "; update it", library));
  FERRY_LIBPQ_FUNCTIONS(FERRY_LIBPQ_LOAD)
#undef FERRY_LIBPQ_LOAD
  return api;
}

}  // namespace ferry::farm
