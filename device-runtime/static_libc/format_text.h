// Text as printf writes it, for the patterns of rpc_server and of glibc's own messages.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace ferry::static_libc {

// Writes as much of the text as there is room for, with a zero behind it if there is any room, and returns its whole
// length; -1 for what it does not know: long double, %n and arguments by number. %a writes decimals.
int write_text(char* to, std::size_t room, const char* pattern, va_list arguments);

}  // namespace ferry::static_libc
