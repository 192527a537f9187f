#define HELPER __attribute__((weak))

HELPER int memcmp(const void* left, const void* right, __SIZE_TYPE__ bytes) {
  const unsigned char *a = left, *b = right;
  for (__SIZE_TYPE__ i = 0; i < bytes; ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}
HELPER int bcmp(const void* left, const void* right, __SIZE_TYPE__ bytes) { return memcmp(left, right, bytes); }
