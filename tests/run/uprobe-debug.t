# Symbols of stripped programs: in files of their own, or packed.

NAME separate file by .gnu_debuglink
RUN
	cp build/tests/landing $TMPDIR/app && cd $TMPDIR
	objcopy --only-keep-debug app app.debug && objcopy --strip-all --add-gnu-debuglink=app.debug app
	"$SONDE" -q -c './app 2' -e 'uprobe:./app:pushes { @ = count(); }' | grep .
	mkdir .debug && mv app.debug .debug
	"$SONDE" -q -c './app 3' -e 'uprobe:./app:pushes { @ = count(); }' | grep .
NEEDS prog:landing cmd:objcopy
EXPECT
	@: 2
	@: 3

NAME separate file without a build id
RUN
	objcopy --remove-section=.note.gnu.build-id build/tests/landing $TMPDIR/app && cd $TMPDIR
	objcopy --only-keep-debug app app.debug && objcopy --strip-all --add-gnu-debuglink=app.debug app
	"$SONDE" -q -c './app 2' -e 'uprobe:./app:pushes { @ = count(); }' | grep .
	echo changed >>app.debug
	"$SONDE" -q -c './app 3' -e 'uprobe:./app:pushes { }' 2>&1 | grep -o 'ERROR.*'
NEEDS prog:landing cmd:objcopy
EXPECT
	@: 2
	ERROR: ./app has no symbols: it is stripped, or damaged

NAME packed symbols
RUN
	cp build/tests/landing $TMPDIR/app && cd $TMPDIR
	objcopy --strip-debug --only-keep-debug app min && xz -k min
	objcopy --strip-all --add-section=.gnu_debugdata=min.xz app
	"$SONDE" -q -c './app 2 300' -e 'uprobe:./app:pushes { printf("%s", ustack(1)); }' | grep .
	printf x | dd of=min.xz bs=1 seek=100 conv=notrunc 2>/dev/null
	objcopy --update-section=.gnu_debugdata=min.xz app
	"$SONDE" -q -c './app 3' -e 'uprobe:./app:pushes { }' 2>&1 | grep -o 'ERROR.*'
NEEDS prog:landing cmd:objcopy cmd:xz fast
EXPECT
	        pushes+0
	        pushes+0
	ERROR: ./app keeps symbols in .gnu_debugdata, which is damaged, or needs a sonde that is built with liblzma
