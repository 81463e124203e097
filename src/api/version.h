/* version.h - the release. The packages and the pkg-config file read it here. */
#pragma once

#define SONDE_VERSION "0.1.0"
