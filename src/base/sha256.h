/* sha256.h - SHA-256 (FIPS 180-4), as sha256sum prints it: to compare files, not for secrets. */
#pragma once
#include "base/base.h"

enum { SHA256_HEX = 64 };
/* ret: hexadecimal digits, and a 0. */
void sha256_hex(const void *p, size_t n, char ret[SHA256_HEX + 1]);
