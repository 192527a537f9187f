// Marks what libferry.so exports.
#pragma once

#define FERRY_API __attribute__((visibility("default")))
