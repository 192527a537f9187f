#include "host/python/dlpack_exchange.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nb = nanobind;

namespace ferry::python {

namespace {

constexpr std::uint32_t kMajorVersion = 1;
constexpr const char* kCapsule = "dlpack_exchange_api";

// DLPack's DLPackExchangeAPI, as far as it is used.
struct ExchangeFunctions {
  std::uint32_t major, minor;
  ExchangeFunctions* older;  // the same for an earlier major version
  void* allocate;
  int (*from_object)(void* object, ManagedTensor** into);
};

struct KnownType {
  PyObject* type = nullptr;  // not freed while it is here, so that no other type has its address
  const ExchangeFunctions* functions = nullptr;
};

const ExchangeFunctions* find_functions(PyObject* type) {
  PyObject* const capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  auto* functions =
      capsule == nullptr ? nullptr : static_cast<ExchangeFunctions*>(PyCapsule_GetPointer(capsule, kCapsule));
  PyErr_Clear();
  Py_XDECREF(capsule);
  while (functions != nullptr && functions->major > kMajorVersion) functions = functions->older;
  return functions != nullptr && functions->major == kMajorVersion ? functions : nullptr;
}

// Few types are in use at a time. Python's lock guards the list.
std::array<KnownType, 8> known_types;

const ExchangeFunctions* functions_of(PyObject* type) {
  static std::size_t next = 0;
  const auto found = std::ranges::find(known_types, type, &KnownType::type);
  if (found != known_types.end()) return found->functions;
  const KnownType made{type, find_functions(type)};
  Py_INCREF(type);
  Py_XDECREF(std::exchange(known_types[next++ % known_types.size()], made).type);
  return made.functions;
}

}  // namespace

ExchangedTensor exchanged_tensor(nb::handle value) {
  const ExchangeFunctions* const functions = functions_of(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())));
  if (functions == nullptr) return nullptr;
  ManagedTensor* tensor = nullptr;
  if (functions->from_object(value.ptr(), &tensor) == 0) return ExchangedTensor(tensor);
  PyErr_Clear();
  return nullptr;
}

void forget_types_at_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    for (KnownType& known : known_types) Py_XDECREF(std::exchange(known, {}).type);
  }));
}

}  // namespace ferry::python
