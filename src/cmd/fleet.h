/*
 * fleet.h - between fleet and fleet-host: what is sent as the question.
 *
 * "NBYTES\n", then so many bytes (base/pack.h): the text of the script, or an empty one; which word names it, or 0; and
 * the words of the command line that the host runs.
 */
#pragma once

enum { FLEET_MAX_QUESTION = 16 << 20, FLEET_MAX_WORDS = 4096 };
