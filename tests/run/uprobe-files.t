# Versions of a function, members of archives, files that are not ELF.

NAME versions of a function
RUN
	cd $TMPDIR && cat >f.c <<'C'
		__asm__(".symver old, f@V_1\n.symver now, f@@V_2");
		int old(int x) { return x + 1; }
		int now(int x) { return x + 2; }
		int g(int x) { return x; }
	C
	cat >use.c <<'C'
		int f(int), old(int), g(int);
		__asm__(".symver old, f@V_1");
		int main(void) { for (int i = 0; i < 2; i++) g(old(i)); for (int i = 0; i < 5; i++) f(i); return 0; }
	C
	echo 'V_1 { global: f; g; local: *; }; V_2 { global: f; } V_1;' >map
	cc -O0 -shared -fPIC -Wl,--version-script=map -Wl,-soname,./lib.so -o lib.so f.c && cc -o use use.c ./lib.so || exit
	for name in f f@V_1 f@V_2 f@@V_2; do
		"$SONDE" -q -c ./use -e "uprobe:./lib.so:$name { @[probe, arg0 < 2] = count(); } uretprobe:./lib.so:$name { @r = max(retval); }" | grep .
	done
	strip lib.so
	"$SONDE" -q -c ./use -e 'uprobe:./lib.so:f@V_1 { @old = count(); } uprobe:./lib.so:f* { @any = count(); }' | grep .
	for name in f@V_3 f@@V_1 g@V_2 f@; do
		"$SONDE" -e "uprobe:./lib.so:$name { }" 2>&1 | grep -o 'ERROR.*'
	done
	"$SONDE" -e "uprobe:./use:main@V_1 { }" 2>&1 | grep -o 'ERROR.*'
TIMEOUT 30
NEEDS cmd:cc cmd:strip fast
EXPECT
	@[uprobe:./lib.so:f, true]: 2
	@[uprobe:./lib.so:f, false]: 3
	@r: 6
	@[uprobe:./lib.so:f@V_1, true]: 2
	@r: 2
	@[uprobe:./lib.so:f@V_2, true]: 2
	@[uprobe:./lib.so:f@V_2, false]: 3
	@r: 6
	@[uprobe:./lib.so:f@@V_2, true]: 2
	@[uprobe:./lib.so:f@@V_2, false]: 3
	@r: 6
	@any: 7
	@old: 2
	ERROR: ./lib.so has no f@V_3: there are f@V_1, f@@V_2
	ERROR: ./lib.so has no f@@V_1: there are f@V_1, f@@V_2
	ERROR: ./lib.so has no g@V_2: there are g@@V_1
	ERROR: ./lib.so has no f@: there are f@V_1, f@@V_2
	ERROR: ./use has main without versions

NAME members of a ZIP archive
RUN
	cd $TMPDIR && cat >f.c <<'C'
		int f(int x) { return x + 1; }
	C
	cat >use.c <<'C'
		#include <fcntl.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		int main(int n, char **v)
		{
			int fd = open(v[1], O_RDONLY);
			char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
			int (*f)(int) = (int (*)(int))(p + atol(v[2]));
			return p == MAP_FAILED || f(f(f(n))) != n + 3;
		}
	C
	cc -O0 -shared -fPIC -nostdlib -o lib.so f.c && cc -o use use.c || exit
	python3 - <<'P' >where || exit
	import subprocess, zipfile
	with zipfile.ZipFile('app.zip', 'w') as z:
	    z.writestr('first', 'x' * 777)
	    z.write('lib.so', 'lib/stored.so')
	    z.write('lib.so', 'lib/packed.so', zipfile.ZIP_DEFLATED)
	whole, lib = open('app.zip', 'rb').read(), open('lib.so', 'rb').read()
	for line in subprocess.check_output(['readelf', '-lW', 'lib.so'], text=True).splitlines():
	    if 'LOAD' in line and ' E ' in line:
	        off, addr = [int(x, 16) for x in line.split()[1:3]]
	for line in subprocess.check_output(['nm', 'lib.so'], text=True).splitlines():
	    if line.endswith(' T f'):
	        print(whole.index(lib) + int(line.split()[0], 16) - addr + off)
	P
	"$SONDE" -q -c "./use app.zip $(cat where)" -e 'uprobe:./app.zip!/lib/stored.so:f { @[probe, arg0] = count(); }
		uretprobe:./app.zip!/lib/stored.so:f { @r[retval] = count(); }' | grep .
	"$SONDE" -l 'uprobe:./app.zip!/lib/stored.so:*'
	for name in lib/packed.so lib/none.so first; do
		"$SONDE" -e "uprobe:./app.zip!/$name:f { }" 2>&1 | grep -o 'ERROR.*'
	done
	head -c 900 app.zip >cut.zip
	"$SONDE" -e "uprobe:./cut.zip!/lib/stored.so:f { }" 2>&1 | grep -o 'ERROR.*'
	"$SONDE" -e "uprobe:./none.zip!/lib/stored.so:f { }" 2>&1 | grep -o 'ERROR.*'
TIMEOUT 30
NEEDS cmd:cc cmd:nm cmd:readelf cmd:python3 fast
EXPECT
	@[uprobe:./app.zip!/lib/stored.so:f, 3]: 1
	@[uprobe:./app.zip!/lib/stored.so:f, 4]: 1
	@[uprobe:./app.zip!/lib/stored.so:f, 5]: 1
	@r[4]: 1
	@r[5]: 1
	@r[6]: 1
	uprobe:./app.zip!/lib/stored.so:f
	ERROR: ./app.zip!/lib/packed.so: lib/packed.so is compressed in the archive; only stored files can run from there (zip -0)
	ERROR: ./app.zip!/lib/none.so: the archive has no member lib/none.so
	ERROR: ./app.zip!/first: not an ELF file
	ERROR: ./cut.zip!/lib/stored.so: not a ZIP archive
	ERROR: uprobe target file './none.zip!/lib/stored.so' does not exist or is not executable

NAME a flat file by offset
RUN
	cd $TMPDIR && cat >use.c <<'C'
		#include <fcntl.h>
		#include <sys/mman.h>
		int main(int n, char **v)
		{
			char *p = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open("flat", O_RDONLY), 0);
			int (*f)(int) = (int (*)(int))(p + 0x20);
			return v[n] || f(f(f(n))) != 8;
		}
	C
	cc -o use use.c && printf '%032d\215\004\077\303' 0 >flat || exit
	"$SONDE" -q --unsafe -c ./use -e 'uprobe:./flat:0x20 { @[probe, arg0] = count(); } uretprobe:./flat:0x20 { @r[retval] = count(); }' | grep .
	"$SONDE" -e 'uprobe:./flat:0x20 { }' 2>&1 | grep -o 'ERROR.*'
	"$SONDE" --unsafe -e 'uprobe:./flat:0x24 { }' 2>&1 | grep -o 'ERROR.*'
	"$SONDE" --unsafe -e 'uprobe:./flat:f { }' 2>&1 | grep -o 'ERROR.*'
TIMEOUT 30
NEEDS cmd:cc x86_64 fast
EXPECT
	@[uprobe:./flat:0x20, 1]: 1
	@[uprobe:./flat:0x20, 2]: 1
	@[uprobe:./flat:0x20, 4]: 1
	@r[2]: 1
	@r[4]: 1
	@r[8]: 1
	ERROR: ./flat is not an ELF file: 0x20 would be an offset in it, which may lie within an instruction; --unsafe attaches all the same, which may corrupt the traced program
	ERROR: ./flat has no offset 0x24: it is 36 bytes long
	ERROR: ./flat: not an ELF file
