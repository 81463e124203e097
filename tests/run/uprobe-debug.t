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

NAME debug files in directories of the user
RUN
	cp build/tests/landing $TMPDIR/app && cd $TMPDIR && mkdir -p a b/.build-id near
	objcopy --only-keep-debug app app.debug && objcopy --strip-all --add-gnu-debuglink=app.debug app
	try() { "$SONDE" -q "$@" -c './app 2' -e 'uprobe:./app:pushes { @ = count(); }' 2>&1 | grep -o '^@.*\|ERROR.*'; }
	mv app.debug a; try
	try --debuginfo "$TMPDIR/nope:$TMPDIR/a"
	mv a/app.debug near; try --debuginfo /nope --debuginfo +near
	id=$(readelf -n app | sed -n 's/.*Build ID: //p'); mkdir b/.build-id/${id%${id#??}}
	mv near/app.debug b/.build-id/${id%${id#??}}/${id#??}.debug; try --debuginfo=$TMPDIR/b
NEEDS prog:landing cmd:objcopy cmd:readelf
EXPECT
	ERROR: ./app has no symbols: it is stripped, or damaged
	@: 2
	@: 2
	@: 2

NAME debug files of the program's name in directories of the user
RUN
	cp build/tests/landing $TMPDIR/app && cd $TMPDIR && mkdir -p near deep/$TMPDIR
	objcopy --only-keep-debug app app.debug && objcopy --strip-all app
	cp /bin/true near/app
	try() { "$SONDE" -q "$@" -c './app 2' -e 'uprobe:./app:pushes { @ = count(); }' 2>&1 | grep -o '^@.*\|ERROR.*'; }
	cp app.debug near; try; try --debuginfo=./near; try --debuginfo=near; try --debuginfo="$TMPDIR/near"
	(cd / && "$SONDE" -lv "uprobe:$TMPDIR/app:pushes" --debuginfo=near 2>&1 | sed 's/.*:/:/')
	mv near/app.debug near/app; try --debuginfo=/nope:near
	mv near/app deep/$TMPDIR/app.debug; try --debuginfo="$TMPDIR/deep"
	mkdir other; objcopy --only-keep-debug "$OLDPWD/build/tests/calls" other/app.debug; try --debuginfo=other
NEEDS prog:landing prog:calls cmd:objcopy
EXPECT
	ERROR: ./app has no symbols: it is stripped, or damaged
	@: 2
	@: 2
	@: 2
	:pushes
	@: 2
	@: 2
	ERROR: ./app has no symbols: it is stripped, or damaged

NAME debug information from a server
RUN
	cp build/tests/landing $TMPDIR/app && cd $TMPDIR
	objcopy --only-keep-debug app app.debug && objcopy --strip-all app
	id=$(readelf -n app | sed -n 's/.*Build ID: //p'); mkdir -p www/buildid/$id && mv app.debug www/buildid/$id/debuginfo
	python3 -u -m http.server --bind 127.0.0.1 --directory www 0 >server 2>log & server=$!
	until_written server
	export DEBUGINFOD_URLS="http://127.0.0.1:$(sed 's/.* port \([0-9]*\).*/\1/' server)" DEBUGINFOD_CACHE_PATH=$TMPDIR/cache
	try() { "$SONDE" -q "$@" -c './app 2' -e 'uprobe:./app:pushes { @[ustack(1)] = count(); }' 2>&1 | grep -o '^ .*\|ERROR.*'; }
	try; wc -l <log
	try --debuginfo "debuginfod:$TMPDIR/nope"; grep -c "GET /buildid/$id/debuginfo .* 200" log
	try --debuginfo debuginfod; grep -c "GET /buildid/$id/debuginfo .* 200" log
	kill $server
	DEBUGINFOD_URLS= try --debuginfo debuginfod
NEEDS prog:landing cmd:objcopy cmd:readelf cmd:python3 cmd:debuginfod-find
EXPECT
	ERROR: ./app has no symbols: it is stripped, or damaged
	0
	        pushes+0
	1
	        pushes+0
	1
	ERROR: --debuginfo debuginfod: DEBUGINFOD_URLS is not set; it names the servers (sudo -E keeps it)

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
