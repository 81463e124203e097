# Tools about what goes over TLS: a client and a server in one process.

NAME sslsniff: what is sent and received
RUN
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$TMPDIR/k.pem" -out "$TMPDIR/c.pem" -days 2 -subj /CN=x 2>/dev/null
	cat >"$TMPDIR/tls.py" <<-'P'
		import os, socket, ssl, threading
		d = os.environ["TMPDIR"]
		c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		c.load_cert_chain(d + "/c.pem", d + "/k.pem")
		l = socket.socket()
		l.bind(("127.0.0.1", 0))
		l.listen()
		def serve():
		    s = c.wrap_socket(l.accept()[0], server_side=True)
		    s.sendall(b"pong " + s.recv(100))
		t = threading.Thread(target=serve)
		t.start()
		k = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
		k.check_hostname = False
		k.verify_mode = ssl.CERT_NONE
		s = k.wrap_socket(socket.create_connection(l.getsockname()))
		s.sendall(b"ping\n")
		s.recv(100)
		t.join()
	P
	export TMPDIR; for f in '' -j --csv; do "$SONDE" sslsniff -q $f --fields function,comm,bytes,data -- python3 "$TMPDIR/tls.py" | grep . | LC_ALL=C sort; done
	"$SONDE" sslsniff -q -c python -g -n -l --handshake --hexdump --fields function,duration_ns,data -- python3 "$TMPDIR/tls.py" |
		sed 's/[0-9]*\.[0-9][0-9]/N/; s/  */ /g; s/ $//' | LC_ALL=C sort -u
NEEDS slow uprobe cmd:openssl cmd:python3
TIMEOUT 40
EXPECT
	    ping
	    ping
	    pong ping
	    pong ping
	FUNC         COMM                LEN
	READ/RECV    python3               5
	READ/RECV    python3              10
	WRITE/SEND   python3               5
	WRITE/SEND   python3              10
	{"type": "event", "table": "data", "function": "READ/RECV", "comm": "python3", "bytes": 10, "data": [112,111,110,103,32,112,105,110,103,10]}
	{"type": "event", "table": "data", "function": "READ/RECV", "comm": "python3", "bytes": 5, "data": [112,105,110,103,10]}
	{"type": "event", "table": "data", "function": "WRITE/SEND", "comm": "python3", "bytes": 10, "data": [112,111,110,103,32,112,105,110,103,10]}
	{"type": "event", "table": "data", "function": "WRITE/SEND", "comm": "python3", "bytes": 5, "data": [112,105,110,103,10]}
	READ/RECV,python3,10,pong ping\x0a
	READ/RECV,python3,5,ping\x0a
	WRITE/SEND,python3,10,pong ping\x0a
	WRITE/SEND,python3,5,ping\x0a
	function,comm,bytes,data
	FUNC LAT(ms) DATA
	HANDSHAKE N
	READ/RECV N 70 69 6e 67 0a
	READ/RECV N 70 6f 6e 67 20 70 69 6e 67 0a
	WRITE/SEND N 70 69 6e 67 0a
	WRITE/SEND N 70 6f 6e 67 20 70 69 6e 67 0a

# A program with libraries of its own, which is no file of these names.
NAME sslsniff: more libraries than those of the system
RUN
	cat >"$TMPDIR/p.c" <<-'P'
		#define F(name) __attribute__((noinline)) int name(void *s, const char *data, long n, long *done) { __asm__ volatile("" :: "r"(s), "r"(data), "r"(done) : "memory"); return n; }
		F(SSL_read) F(SSL_write) F(SSL_do_handshake) F(gnutls_record_send) F(gnutls_record_recv) F(PR_Write) F(PR_Send) F(PR_Read) F(PR_Recv)
		#define G(name) __attribute__((noinline)) int name(void *s, const char *data, long n, long *done) { *done = n; __asm__ volatile("" :: "r"(s), "r"(data) : "memory"); return 1; }
		G(SSL_read_ex) G(SSL_write_ex)
		int main(void)
		{
			char data[] = "abcdefgh";
			long n;
			SSL_write(0, data, 3, 0);
			SSL_read_ex(0, data + 4, 4, &n);
			gnutls_record_recv(0, data + 3, 2, 0);
			PR_Send(0, data, 1, 0);
			return 0;
		}
	P
	cc -O1 -o "$TMPDIR/p" "$TMPDIR/p.c"
	"$SONDE" sslsniff -q --library "libssl,$TMPDIR/p" --gnutls-library "$TMPDIR/p" --nss-library "$TMPDIR/p" --csv --fields function,bytes,data -- "$TMPDIR/p"
	"$SONDE" sslsniff -q --nss-library /nonexistent.so --csv -- "$TMPDIR/p" 2>&1 | sort -u | head -n 1
NEEDS uprobe cmd:cc fast
EXPECT
	function,bytes,data
	WRITE/SEND,3,abc
	READ/RECV,4,efgh
	READ/RECV,2,de
	WRITE/SEND,1,a
	ERROR: uprobe target file '/nonexistent.so' does not exist or is not executable

NAME sslsniff: Go programs, with symbols and without
RUN
	go build -o "$TMPDIR/own" tests/progs/tls/own.go && strip -o "$TMPDIR/bare" "$TMPDIR/own"
	for p in own bare; do
		"$SONDE" sslsniff -q --go "$TMPDIR/$p" --csv --fields function,comm,bytes,data -- "$TMPDIR/$p" | LC_ALL=C sort
	done
	"$SONDE" sslsniff -q --go /bin/true -- /bin/true 2>&1 | cat
NEEDS uprobe cmd:go cmd:strip x86_64 fast
TIMEOUT 120
EXPECT
	READ/RECV,own,11,question 1\x0a
	READ/RECV,own,11,question 2\x0a
	READ/RECV,own,20,you said question 1\x0a
	READ/RECV,own,20,you said question 2\x0a
	WRITE/SEND,own,11,question 1\x0a
	WRITE/SEND,own,11,question 2\x0a
	WRITE/SEND,own,20,you said question 1\x0a
	WRITE/SEND,own,20,you said question 2\x0a
	function,comm,bytes,data
	you said question 1
	you said question 2
	READ/RECV,bare,11,question 1\x0a
	READ/RECV,bare,11,question 2\x0a
	READ/RECV,bare,20,you said question 1\x0a
	READ/RECV,bare,20,you said question 2\x0a
	WRITE/SEND,bare,11,question 1\x0a
	WRITE/SEND,bare,11,question 2\x0a
	WRITE/SEND,bare,20,you said question 1\x0a
	WRITE/SEND,bare,20,you said question 2\x0a
	function,comm,bytes,data
	you said question 1
	you said question 2
	ERROR: No matches for uprobe /bin/true:crypto/tls.(*Conn).Read. The file is stripped of its symbols, or does not contain that library.

NAME sslsniff: OpenSSL that a program is statically linked with
RUN
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$TMPDIR/k.pem" -out "$TMPDIR/c.pem" -days 2 -subj /CN=x 2>/dev/null
	cc -o "$TMPDIR/own" tests/progs/tls/own.c -l:libssl.a -l:libcrypto.a && strip -o "$TMPDIR/bare" "$TMPDIR/own"
	"$SONDE" sslsniff -q --library "$TMPDIR/own" --csv --fields function,comm,bytes,data -- "$TMPDIR/own" "$TMPDIR/c.pem" "$TMPDIR/k.pem" | LC_ALL=C sort
	"$SONDE" sslsniff -q --library "$TMPDIR/bare" -- "$TMPDIR/bare" "$TMPDIR/c.pem" "$TMPDIR/k.pem" 2>&1 | sed "s|$TMPDIR|DIR|"
NEEDS uprobe cmd:cc cmd:openssl cmd:strip file:/usr/include/openssl/ssl.h fast
EXPECT
	READ/RECV,own,10,a question
	READ/RECV,own,9,an answer
	WRITE/SEND,own,10,a question
	WRITE/SEND,own,9,an answer
	function,comm,bytes,data
	ERROR: No matches for uprobe DIR/bare:SSL_read. The file is stripped of its symbols, or does not contain that library.

NAME ssllatency and sslsnoop: calls of the library
RUN
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$TMPDIR/k.pem" -out "$TMPDIR/c.pem" -days 2 -subj /CN=x 2>/dev/null
	cat >"$TMPDIR/tls.py" <<-'P'
		import os, socket, ssl, threading
		d = os.environ["TMPDIR"]
		c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		c.load_cert_chain(d + "/c.pem", d + "/k.pem")
		l = socket.socket()
		l.bind(("127.0.0.1", 0))
		l.listen()
		def serve():
		    s = c.wrap_socket(l.accept()[0], server_side=True)
		    s.sendall(b"pong " + s.recv(100))
		t = threading.Thread(target=serve)
		t.start()
		k = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
		k.check_hostname = False
		k.verify_mode = ssl.CERT_NONE
		s = k.wrap_socket(socket.create_connection(l.getsockname()))
		s.sendall(b"ping\n")
		s.recv(100)
		t.join()
	P
	export TMPDIR; "$SONDE" ssllatency -q --fields function,calls,failed -- python3 "$TMPDIR/tls.py" | grep -E '^(FUNC|SSL_write)'; "$SONDE" ssllatency -qj --fields function,total_ns -- python3 "$TMPDIR/tls.py" | grep -cE '"SSL_do_handshake", "total_ns": [1-9]'; "$SONDE" ssllatency -q --csv --fields function,calls,failed -- python3 "$TMPDIR/tls.py" | grep -E "^func|^SSL_write"
	"$SONDE" sslsnoop -q --fields comm,ret,function -- python3 "$TMPDIR/tls.py" | grep -E 'FUNC|SSL_write' | sort; "$SONDE" sslsnoop -qj --fields duration_ns,function -- python3 "$TMPDIR/tls.py" | grep -cE '"duration_ns": [1-9][0-9]*, "function": "SSL_(do_handshake|read)' | sed 's/^[1-9]$/some/'; "$SONDE" sslsnoop -q --csv --min 1h -- python3 "$TMPDIR/tls.py"; "$SONDE" sslsnoop -q --csv --fields comm,ret,function -- python3 "$TMPDIR/tls.py" | grep SSL_write
NEEDS uprobe cmd:openssl cmd:python3
TIMEOUT 60
EXPECT_RE
	FUNCTION +CALLS FAILED
	SSL_write.*2 +0
	1
	function,calls,failed
	SSL_write.*,2,0
	COMM               RET FUNC
	python3 +1 SSL_write_ex
	python3 +1 SSL_write_ex
	some
	time_ns,tid,comm,duration_ns,ret,function
	python3,1,SSL_write_ex
	python3,1,SSL_write_ex
