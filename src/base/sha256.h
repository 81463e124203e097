/* sha256.h - SHA-256 (FIPS 180-4): to compare files, and to name a random number without giving it away. */
#pragma once
#include "base/base.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 2 * SHA256_BYTES };
void sha256(const void *p, size_t n, u8 ret[SHA256_BYTES]);
/* ret: hexadecimal digits as sha256sum prints them, and a 0. */
void sha256_hex(const void *p, size_t n, char ret[SHA256_HEX + 1]);
