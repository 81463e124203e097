/*
 * debuginfod.h - debug information from the servers in $DEBUGINFOD_URLS, for who asks for it.
 *
 * The program debuginfod-find does it: it keeps what it got, and what no server had, in its own
 * place, and gives up when a server is too slow. Who waits for it, waits.
 */
#pragma once
#include "base/bytes.h"
#include "base/str.h"

#define DEBUGINFOD_PROGRAM "debuginfod-find"
/* The word that stands for servers among directories to search. */
bool debuginfod_is(struct str dir);
/* Path of the file for a build id, the caller frees it; NULL: there is none. */
char *debuginfod_find(struct bytes id);
