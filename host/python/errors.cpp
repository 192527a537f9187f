// Exceptions of C++ become those of ferry/errors.py, with what they know beside the message.
#include <nanobind/nanobind.h>

#include <pthread.h>

#include <exception>

#include "ferry/error.h"
#include "ferry/kernel/kernel_failed.h"
#include "host/python/bindings.h"
#include "host/python/interruptible.h"
#include "host/python/session.h"
#include "rpc/transport/interruption.h"

namespace nb = nanobind;

namespace ferry::python {
namespace {

nb::object made(const char* name, const Error& error) {
  nb::object exception = nb::module_::import_("ferry.errors").attr(name)(error.what());
  exception.attr("code") = error_name(error.code());
  return exception;
}

void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const CompileError& error) {
    const nb::object exception = made("CompileError", error);
    exception.attr("file") = error.location().file.c_str();
    exception.attr("line") = error.location().line;
    exception.attr("column") = error.location().column;
    raise(exception);
  } catch (const UsageError& error) {
    raise(made("UsageError", error));
  } catch (const LimitExceeded& error) {
    raise(made("LimitExceeded", error));
  } catch (const ConnectionLost& error) {
    const nb::object exception = made("ConnectionLost", error);
    exception.attr("nothing_ran") = error.nothing_ran();
    raise(exception);
  } catch (const Error& error) {
    switch (error.code()) {
      case ErrorCode::invalid_argument: return raise(made("UsageError", error));
      case ErrorCode::kernel_crashed: return raise(made("KernelFailed", error));
      default: return raise(made("Error", error));
    }
  }
}

int forked = 0;

}  // namespace

bool is_interrupted() {
  const nb::gil_scoped_acquire acquire;
  return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
}

int forks() { return forked; }

void bind_errors(nb::module_&) {
  pthread_atfork(nullptr, nullptr, [] { ++forked; });
  nb::register_exception_translator(translate);
  set_interruption(is_interrupted);
  const nb::object finish = nb::cpp_function([] {
    const nb::gil_scoped_release released;
    finish_abandoned_work();
  });
  nb::module_::import_("atexit").attr("register")(finish);
}

}  // namespace ferry::python
