/* http.h - what children that serve by libmicrohttpd share; only for files that are compiled with HAVE_HTTP. */
#pragma once
#include "base/base.h"
#include <microhttpd.h>

/*
 * Serve connections to a socket from now on, in the caller's thread, without any right. A client that does not
 * read, or sends nothing, is dropped after timeout_s. The process ends with a message if that cannot be had.
 */
struct MHD_Daemon *http_start(int listening, MHD_AccessHandlerCallback handle,
			      MHD_RequestCompletedCallback completed, u32 timeout_s, void *self);
