// The code of stb_image.
#define STB_IMAGE_IMPLEMENTATION
#include "host/media/stb_image.h"
