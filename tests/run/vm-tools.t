# Tools that need probes of kernel functions.

NAME rows add up: files, directories and functions of the kernel, of five processes
RUN
	mkdir "$TMPDIR/sums"; write='for i in 1 2 3 4 5; do dd if=/dev/zero of="$TMPDIR/sums/$i" bs=1k count=4 2>/dev/null; done'
	see() { printf '%s: ' "$1"; name=$2; shift 2; tool_sees "$write" "$@" | grep -E "${only:-.}" | sum_of $name; }
	see dirtop writes dirtop -j -d "$TMPDIR/sums" 1h
	see 'dirtop, bytes' write_bytes dirtop -j -d "$TMPDIR/sums" 1h
	only='"comm": "dd".*"file": "[1-5]"'
	see filetop writes filetop -j -r 100 1h
	only=vfs_write
	see vfscount count vfscount -j | at_least 20
	see funccount calls funccount -j vfs_write | at_least 20
	only=dd
	see stackcount calls stackcount -jP vfs_write | at_least 20
NEEDS slow kprobe btf
TIMEOUT 60
EXPECT
	dirtop: 20
	dirtop, bytes: 20480
	filetop: 20
	vfscount: all
	funccount: all
	stackcount: all

NAME filetop: files, with what was read and written
RUN
	see() { tool_sees 'dd if=/dev/zero of="$TMPDIR/topped" bs=1k count=20 2>/dev/null; dd if="$TMPDIR/topped" of=/dev/null bs=32k 2>/dev/null' filetop "$@" 1h | grep -E 'topped|^comm,file$|FILE$'; }
	see --fields comm,reads,writes,read_bytes,write_bytes,kind,file | sort; see -j --fields comm,writes,write_bytes,file | grep '"writes": 2'; see --csv --fields comm,file | sort
	see --read-only -d "$TMPDIR" --fields comm,writes,write_bytes,read_bytes,file | sort; see --write-only -d /nowhere --csv --fields comm,file
NEEDS slow kprobe btf
TIMEOUT 90
EXPECT_RE
	COMM +READS WRITES +R_Kb +W_Kb T FILE
	dd +0 +20 +0 +20 R topped
	dd +[12] +0 +20 +0 R topped
	.*"comm": "dd", "writes": 20, "write_bytes": 20480, "file": "topped"}
	comm,file
	dd,topped
	dd,topped
	COMM +WRITES +W_Kb +R_Kb FILE
	dd +0 +0 +20 topped
	comm,file

NAME cpudist -I: the idle tasks of a machine that has little to do
RUN
	tool_sees 'sleep 2' cpudist -I -P -e >"$TMPDIR/o"; grep -oE '^pid = 0, comm = swapper/' "$TMPDIR/o" | uniq; awk '$2 ~ /^swapper/ && $3 > 0 && $5 > 100000 { print "idle" }' "$TMPDIR/o" | uniq
NEEDS kprobe btf
TIMEOUT 40
EXPECT
	pid = 0, comm = swapper/
	idle

NAME dirtop: directories, with what was read and written
RUN
	mkdir -p "$TMPDIR/top/one" "$TMPDIR/top/two"
	see() { tool_sees 'for d in one two; do dd if=/dev/zero of="$TMPDIR/top/$d/file" bs=1k count=20 2>/dev/null; done; dd if="$TMPDIR/top/two/file" of=/dev/null bs=32k 2>/dev/null' dirtop "$@" 1h |
		sed "s,$TMPDIR,D,"
	}
	see -d /top/ | tail -n 3 | sort; see -j -d top/two | grep '"table"'; see --csv -d top/one --fields writes,path | tail -n 2
NEEDS slow kprobe btf
TIMEOUT 40
EXPECT_RE
	 *0     20       0      20 D/top/one
	 *[12]     20      20      20 D/top/two
	 *READS WRITES    R_Kb    W_Kb PATH
	."type": "row", "table": "directories", "interval": 1, "reads": [12], "writes": 20, "read_bytes": 20480, "write_bytes": 20480, "path": "D/top/two".
	writes,path
	20,D/top/one

NAME fileslower: each read and write, with its size
RUN
	see() { tool_sees 'dd if=/dev/zero of="$TMPDIR/slow" bs=1k count=3 2>/dev/null' fileslower "$@" | grep -E ' slow$|"slow"|,slow$|BYTES|/slow$'; }
	see 0 --fields comm,op,bytes,file
	see -j 0 --fields op,bytes,duration_ns,file |
		grep -cE '"op": "W", "bytes": 1024, "duration_ns": [1-9][0-9]*, "file": "slow"'
	see --csv 0 --fields bytes,file
	see 1h --fields bytes,file
	see 0 -F --fields file | grep "$TMPDIR" | sed "s,$TMPDIR,D,"
NEEDS slow kprobe btf
TIMEOUT 40
EXPECT
	COMM             D   BYTES FILENAME
	dd               W    1024 slow
	dd               W    1024 slow
	dd               W    1024 slow
	3
	1024,slow
	1024,slow
	1024,slow
	  BYTES FILENAME
	D/slow
	D/slow
	D/slow

NAME filelife: a file that did not live long
RUN
	cd "$TMPDIR"; : >old
	for f in '' -j --csv; do "$SONDE" filelife -q $f --fields comm,file -- sh -c 'touch short; rm short; rm -f missing; [ -e old ] && mv old older; rm -f older'; done
NEEDS kprobe btf
TIMEOUT 40
EXPECT
	COMM             FILE
	rm               short
	{"type": "event", "table": "files", "comm": "rm", "file": "short"}
	comm,file
	rm,short

NAME filegone: removed and renamed
RUN
	cd "$TMPDIR"
	for f in '' -j --csv; do "$SONDE" filegone -q $f --fields comm,action,file,new_file -- sh -c 'touch a c; mkdir d; mv a b; mv b c; rm c; rmdir d; rm -f missing'; done
NEEDS kprobe btf
TIMEOUT 40
EXPECT
	COMM             ACTION  FILE                             NEW
	mv               RENAME  a                                b
	mv               REPLACE b                                c
	rm               DELETE  c                                -
	rmdir            RMDIR   d                                -
	{"type": "event", "table": "files", "comm": "mv", "action": "RENAME", "file": "a", "new_file": "b"}
	{"type": "event", "table": "files", "comm": "mv", "action": "REPLACE", "file": "b", "new_file": "c"}
	{"type": "event", "table": "files", "comm": "rm", "action": "DELETE", "file": "c"}
	{"type": "event", "table": "files", "comm": "rmdir", "action": "RMDIR", "file": "d"}
	comm,action,file,new_file
	mv,RENAME,a,b
	mv,REPLACE,b,c
	rm,DELETE,c,
	rmdir,RMDIR,d,

NAME vfscount: functions of the file system
RUN
	see() { tool_sees 'dd if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null' vfscount "$@" | tr -d ' '; }
	see | grep -E '^vfs_(read|write)[0-9]{4,}$' | tr -d 0-9 | sort
	see -j | grep -oE '"function":"vfs_write","count":[0-9]{4}' | tr -d 0-9
	see --csv | grep -E '^function|^vfs_write,[0-9]{4,}$' | tr -d 0-9
NEEDS slow kprobe btf
TIMEOUT 120
EXPECT
	vfs_read
	vfs_write
	"function":"vfs_write","count":
	function,count
	vfs_write,

# The root of guests is an overlay.
NAME fsslower and fsdist: operations of an overlay
RUN
	mkdir -p /ovl-test; cd /ovl-test
	load='dd if=/dev/zero of=x bs=1k count=3 conv=fsync 2>/dev/null; dd if=x of=/dev/null bs=32k 2>/dev/null'
	tool_sees "$load" overlayslower 0 --fields comm,op,bytes,offset_bytes,file | grep ' x$' | grep -v '^sh '
	tool_sees "$load" fsslower -j 0 --fields op,bytes,fs,file | grep -c '"op": "W", "bytes": 1024, "fs": "overlay", "file": "x"'
	tool_sees "$load" overlaydist | awk '/operation =/ { op = $3 } /^\[/ { sub(/\|.*/, ""); n[op] += $NF } END { print n["write,"], n["fsync,"], (n["read,"] >= 1), (n["open,"] >= 2) }'
	tool_sees "$load" overlaydist -j | awk -F '"count": ' '/"operation": "write"/ { for (i = 2; i <= NF; i++) n += $i } END { print (n >= 3) }'
	tool_sees "$load" fsdist --csv | awk -F, 'NR == 1 { print } /^write,/ { n += $NF } END { print (n >= 3) }'
	"$SONDE" zfsslower 0 --csv --fields op,file 2>&1
	"$SONDE" fsdist -t vfat 2>&1
	rm -r /ovl-test
NEEDS slow kprobe btf vm sym:ovl_write_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 +0 x
	dd +W +1024 +0 x
	dd +W +1024 +1 x
	dd +W +1024 +2 x
	dd +S +0 +0 x
	dd +O +0 +0 x
	dd +R +3072 +0 x
	...
	3
	[0-9]+ [0-9]+ 1 1
	1
	operation,usecs_min,usecs_max,usecs_count
	1
	ERROR: this kernel has no zfs now .is its module loaded.*
	ERROR: --type needs ext4, xfs, btrfs, nfs, f2fs, fuse, overlay, bcachefs or zfs .got 'vfat'.
	sonde fsdist -h shows its options.

NAME dcsnoop and dcstat: names that are not there
RUN
	# Names that no earlier try has asked for; a file system in layers is asked by several lookups each.
	absent() { for i in 0 1 2 3 4 5 6 7 8 9; do for k in 0 1 2 3 4 5 6 7 8 9; do [ -e /tmp/$1$i$k-$$ ]; done; done; true; }
	snoop() { tool_sees "absent $2" dcsnoop $3 --fields comm,kind,file; }
	snoop '' one | grep -E '^[^ ]+ +M one[0-9]+-[0-9]+$' | sort -u | wc -l; snoop '' two -j | grep -oE '"comm": "[^"]+", "kind": "M", "file": "two[0-9-]+"' | sort -u | wc -l; snoop '' three --csv | sed -n '1p; s/^[^,]*,M,\(three[0-9]*\)-[0-9]*$/\1/p' | uniq | sed 's/three../missed/' | uniq -c | sed 's/^ *//'
	stat() { tool_sees "absent $1; sleep 4" dcstat $2 2; }
	stat four | awk '$4 + 0 >= 20 { print "missed"; exit }'; stat five -j | grep -m 1 -cE '"misses": ([2-9][0-9]|[1-9][0-9]{2,}), "hit_ratio": [01](\.[0-9]+)?'; stat six --csv | awk -F, 'NR == 1 { print } $4 + 0 >= 20 { print "missed"; exit }'
NEEDS slow kprobe btf sym:lookup_fast
TIMEOUT 90
EXPECT
	100
	100
	1 comm,kind,file
	100 missed
	missed
	1
	time,refs,slow,misses,hit_ratio
	missed

NAME tcpsynbl: how full the queue is
RUN
	p='import socket; s=socket.socket(); s.bind(("127.0.0.1", 18921)); s.listen(9); c=[socket.create_connection(("127.0.0.1", 18921)) for i in range(5)]'
	see() { tool_sees "python3 -c '$p'" tcpsynbl "$@"; }
	see | awk '/backlog_max = 9,/ { on = 1 } on && /^\[/ { sub(/\|.*/, ""); n += $NF } END { print n }'
	see -6 | grep -c 'backlog_max = 9'
	see -j | grep -c '"backlog_max": 9, "backlog": \[{"min": 0'
	see --csv | sed -n '1p; s/^9,0,0,.$/9 empty/p'
NEEDS slow kprobe btf cmd:python3
TIMEOUT 40
EXPECT
	5
	0
	1
	backlog_max,backlog_bucket_min,backlog_bucket_max,backlog_bucket_count
	9 empty

NAME loads: the load averages
RUN
	"$SONDE" loads -q -j 10ms 1 | sed 's/[0-9.:T+-]*[0-9]Z*"/TIME"/; s/[0-9][0-9]*\([,}]\)/N\1/g'
	"$SONDE" loads -q 10ms 1 | tail -n 1 | sed 's/[0-9]/N/g; s/  */ /g; s/NN*/N/g'
	"$SONDE" loads -q --csv 10ms 1 | sed -E '2s/^.+(,[0-9]+\.[0-9]+){3}$/row/'
NEEDS slow btf sym:avenrun
TIMEOUT 40
EXPECT_RE
	\{"type": "row", "table": "loads", "interval": N, "time": ".*", "load_1min": [0-9]+\.N, "load_5min": [0-9]+\.N, "load_15min": [0-9]+\.N\}
	N:N:N N.N N.N N.N
	time,load_1min,load_5min,load_15min
	row

NAME oomkill: where the function can be probed
RUN
	"$SONDE" --dry-run oomkill && "$SONDE" --dry-run capable && "$SONDE" --dry-run tcpaccept &&
		"$SONDE" --dry-run tcptop && "$SONDE" --dry-run cachestat && "$SONDE" --dry-run slabratetop &&
		"$SONDE" --dry-run tcpretrans && "$SONDE" --dry-run tcpdrop && "$SONDE" --dry-run drsnoop &&
		"$SONDE" --dry-run biotop && "$SONDE" --dry-run netqtop && echo all
NEEDS slow kprobe btf
TIMEOUT 120
EXPECT
	all

NAME ext4slower and ext4dist: calls of ext4, and no others
ALONE
RUN on_disk ext4 16M 'sees_own ext4'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:mkfs.ext4 module:ext4 sym:ext4_file_read_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "ext4", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV

NAME xfsslower and xfsdist: calls of xfs, and no others
ALONE
RUN on_disk xfs 320M 'sees_own xfs'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:mkfs.xfs module:xfs sym:xfs_file_read_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "xfs", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV

NAME btrfsslower and btrfsdist: calls of btrfs, and no others
ALONE
RUN on_disk btrfs 128M 'sees_own btrfs'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:mkfs.btrfs module:btrfs sym:btrfs_file_read_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "btrfs", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV

NAME f2fsslower and f2fsdist: calls of f2fs, and no others
ALONE
RUN on_disk f2fs 64M 'sees_own f2fs'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:mkfs.f2fs module:f2fs sym:f2fs_file_read_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "f2fs", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV

NAME bcachefsslower and bcachefsdist: calls of bcachefs, and no others
ALONE
RUN on_disk bcachefs 128M 'sees_own bcachefs'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:python3 module:bcachefs sym:bch2_read_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "bcachefs", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV

NAME fuseslower and fusedist: calls of fuse, and no others
ALONE
RUN on_fuse 'sees_own fuse'
NEEDS slow kprobe btf vm prog:fuse module:fuse file:/dev/fuse sym:fuse_file_read_iter
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "fuse", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV

NAME nfsslower and nfsdist: calls of NFS, and no others
ALONE
RUN on_nfs 'sees_own nfs'
NEEDS slow kprobe btf vm module:nfsd module:nfsv4 file:/proc/net/rpc/nfsd.export/channel sym:nfs4_file_open
TIMEOUT 120
EXPECT_RE
	dd +O +0 own
	dd +W +1024 own
	dd +W +1024 own
	dd +W +1024 own
	dd +S +0 own
	dd +O +0 own
	dd +R +3072 own
	."type": "event", "table": "ops", "op": "W", "bytes": 1024, "fs": "nfs4", "file": "own".
	R,3072,own
	3 1
	3 in JSON
	3 in CSV
