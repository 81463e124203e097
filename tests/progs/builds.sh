#!/bin/sh
# builds.sh DIR - one program with a known chain of calls, built in many ways; prints what was built.
cd "$1" || exit 1
cat > chain.c <<'END'
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone))
static volatile int sink;
KEPT void three(int n) { sink += getppid() + n; }
KEPT void two(int n) { three(n + 1); sink++; }
KEPT void one(int n) { two(n + 1); sink++; }
int main(void) { one(1); return 0; }
END
cat > chain.cc <<'END'
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone))
static volatile int sink;
extern "C" {
KEPT void three(int n) { sink = sink + getppid() + n; }
KEPT void two(int n) { try { three(n + 1); } catch (int e) { sink = e; } sink = sink + 1; }
KEPT void one(int n) { two(n + 1); sink = sink + 1; }
}
int main() { try { one(1); throw 7; } catch (int e) { sink = e; } return 0; }
END
build() { # NAME COMPILER FLAGS... FILE
	name=$1
	shift
	"$@" -o "$name" 2> /dev/null && echo "$name"
}
cc=${CC:-cc}
build frame_pointers $cc -O1 -fno-omit-frame-pointer chain.c
build no_frame_pointers $cc -O2 -fomit-frame-pointer chain.c
build o3 $cc -O3 -fomit-frame-pointer chain.c
build static $cc -O2 -static chain.c
build no_pie $cc -O2 -no-pie chain.c
build static_pie $cc -O2 -static-pie chain.c
build cf_protection $cc -O2 -fcf-protection chain.c
build lazy_plt $cc -O2 -Wl,-z,lazy chain.c
build debug_frame $cc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -Wl,--build-id chain.c
build no_frame_header $cc -O2 -Wl,--no-eh-frame-hdr chain.c
build stripped $cc -O2 -g chain.c && {
	objcopy --only-keep-debug stripped stripped.debug &&
		objcopy --strip-all --add-gnu-debuglink=stripped.debug stripped
}
build exceptions ${CXX:-c++} -O2 chain.cc
exit 0
