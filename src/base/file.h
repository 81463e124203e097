/* file.h - whole files, and paths of other processes. */
#pragma once
#include "base/str.h"

/* What comes from it, behind what is in out, but no more than max bytes; 0 or an errno. */
int fd_read(int fd, size_t max, struct sb *out);
int file_read(const char *path, size_t max, struct sb *out);
/* Where an open file lies, "" when that is not known; freed by the caller. */
char *fd_path(int fd);
/* It holds the text, whatever was there; 0 or an errno. */
int file_write(const char *path, struct str text);

/* Length of the "/proc/PID/root" before a path as that process sees it; 0: there is none. */
u32 path_root(const char *path);
/* A file that is below another process's root is opened as that process would: no link on the way leads
 * out of it, whoever made it and whenever. -1: errno. */
int file_open(const char *path, int flags);
