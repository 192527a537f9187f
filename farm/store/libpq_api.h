// The functions of libpq, PostgreSQL's client library, that a connection calls. The library is loaded when a tracker
// asks for PostgreSQL, so that nobody else needs it.
#pragma once

#include <libpq-fe.h>

#include "base/status.h"

namespace ferry::farm {

#define FERRY_LIBPQ_FUNCTIONS(X) \
  X(PQclear)                     \
  X(PQcmdStatus)                 \
  X(PQcmdTuples)                 \
  X(PQconnectdbParams)           \
  X(PQconsumeInput)              \
  X(PQerrorMessage)              \
  X(PQexec)                      \
  X(PQexecPrepared)              \
  X(PQfinish)                    \
  X(PQfreemem)                   \
  X(PQftype)                     \
  X(PQgetisnull)                 \
  X(PQgetlength)                 \
  X(PQgetvalue)                  \
  X(PQnfields)                   \
  X(PQnotifies)                  \
  X(PQntuples)                   \
  X(PQprepare)                   \
  X(PQresultErrorField)          \
  X(PQresultStatus)              \
  X(PQsetNoticeProcessor)        \
  X(PQsocket)                    \
  X(PQstatus)                    \
  X(PQtransactionStatus)

struct LibpqApi {
#define FERRY_LIBPQ_POINTER(name) decltype(&::name) name = nullptr;
  FERRY_LIBPQ_FUNCTIONS(FERRY_LIBPQ_POINTER)
#undef FERRY_LIBPQ_POINTER
};

// Fails with unsupported if this machine lacks the library. It stays loaded.
Result<LibpqApi> load_libpq(const char* library = "libpq.so.5");

}  // namespace ferry::farm
