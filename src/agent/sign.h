/*
 * sign.h - signatures of questions: `ssh-keygen -Y sign` and `ssh-keygen -Y verify`, of OpenSSH 8.2 or newer.
 *
 * What is signed are the bytes of question_pack(), in the namespace "sonde", so that a signature that somebody made for
 * another purpose is of no use here. Who may sign is in a file as ssh-keygen(1) describes it, section ALLOWED SIGNERS:
 * names, keys, and from when to when each key is valid.
 *
 * ssh-keygen is a child process, found in the absolute directories of $PATH. Data reaches it through pipes and through
 * files without a name; its output and its time are bounded. It may end before it has read all: callers ignore SIGPIPE.
 */
#pragma once
#include "base/err.h"

#define SIGN_NAMESPACE "sonde"

/*
 * key: file of a private key, or of a public key whose private key ssh-agent has. Nobody is asked for a passphrase. ret:
 * the signature, as text.
 */
struct err *sign_make(const char *key, struct str bytes, struct sb *ret) MUST_USE;
/*
 * signer: the name of allowed_signers that belongs to the key, visible text. An error is the reason why the signature is
 * not accepted: who asks may read it.
 */
struct err *sign_check(const char *allowed_signers, struct str bytes, struct str signature,
		       struct sb *signer) MUST_USE;
/* Can signatures be checked: is the program there, and is the file one that nobody else can change? */
struct err *sign_ready(const char *allowed_signers) MUST_USE;
