// stb_image as ferry uses it: from memory, and for few formats. Its decoders of others have had more defects.
#pragma once

#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_FAILURE_STRINGS
#define STBI_MAX_DIMENSIONS (1 << 15)
#include <stb_image.h>
