/* A TLS server and its client, in two processes on loopback: the client sends a line, the server answers it. With the
 * certificate and the key of the files named. */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static SSL *over(int fd, SSL_CTX *c)
{
	SSL *s = SSL_new(c);
	SSL_set_fd(s, fd);
	return s;
}

static int serve(int fd, char **file)
{
	char text[64];
	SSL_CTX *c = SSL_CTX_new(TLS_server_method());
	if (SSL_CTX_use_certificate_file(c, file[0], SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_PrivateKey_file(c, file[1], SSL_FILETYPE_PEM) != 1)
		return 1;
	SSL *s = over(accept(fd, NULL, NULL), c);
	if (SSL_accept(s) != 1)
		return 1;
	int n = SSL_read(s, text, sizeof(text));
	return n <= 0 || SSL_write(s, "an answer", 9) != 9;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0), status = 1;
	char text[64];
	if (argc < 3 || bind(l, (void *)&a, n) || listen(l, 1) || getsockname(l, (void *)&a, &n))
		return 1;
	if (!fork())
		_exit(serve(l, argv + 1));
	if (connect(fd, (void *)&a, n))
		return 1;
	SSL *s = over(fd, SSL_CTX_new(TLS_client_method()));
	if (SSL_connect(s) != 1 || SSL_write(s, "a question", 10) != 10 ||
	    SSL_read(s, text, sizeof(text)) <= 0)
		return 1;
	wait(&status);
	return status != 0;
}
