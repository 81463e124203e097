# Tools that need probes of kernel functions: memory, sockets, devices.

NAME swapin and swapout: memory that goes to the swap and comes back
RUN
	disk=/dev/ram1; mkswap "$disk" >/dev/null && swapon "$disk" || exit 1
	cat >"$TMPDIR/out.py" <<-'P'
		import mmap, os
		m = mmap.mmap(-1, 2 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
		m.write(os.urandom(2 << 20))
		m.madvise(21)
		sum(m[i] for i in range(0, 2 << 20, 4096))
	P
	see() { tool_sees 'python3 "$TMPDIR/out.py"' "$@"; }
	for t in swapin swapout; do
		see $t 1h --fields comm,moves | awk '$1 == "python3" { print ($2 > 0) }'
		see $t -T -j 1h --fields comm,moves | grep -c '"comm": "python3", "moves": [1-9]'; see $t -T --csv 1h --fields comm,moves | sed -nE '1p; s/^python3,[1-9][0-9]*$/row/p'
	done
	swapoff "$disk"
NEEDS slow kprobe vm file:/dev/ram1 cmd:mkswap cmd:python3
TIMEOUT 120
EXPECT
	1
	1
	comm,moves
	row
	1
	1
	comm,moves
	row

NAME readahead: what was read ahead is used
RUN
	d=/dev/ram2; dd if=/dev/zero of=$d bs=1M count=2 2>/dev/null; blockdev --flushbufs $d; echo 3 >/proc/sys/vm/drop_caches
	load='blockdev --flushbufs $d; dd if=$d of=/dev/null bs=4k count=256 2>/dev/null'
	tool_sees "$load" readahead | awk '/READ-AHEAD/ { getline; print ($1 >= 32), ($2 >= 32), ($1 == $2 + $3) } /^msecs:/ { print } /^\[/ { sub(/\|.*/, ""); n += $NF } END { print (n > 0) }'
	tool_sees "$load" readahead -j --fields pages,used_pages | grep -c '"table": "pages", "pages": [1-9]'
	tool_sees "$load" readahead --csv | grep -m 1 -A 1 pages | sed -E 's/^[1-9][0-9]+,[1-9][0-9]+,[0-9]+$/row/'
NEEDS slow kprobe btf vm file:/dev/ram2 cmd:blockdev
TIMEOUT 120
EXPECT
	1 1 1
	msecs:
	1
	1
	pages,used_pages,unused_pages
	row

NAME numamove: nothing moves on one node
RUN "$SONDE" numamove -q 10ms 2 --fields migrations,duration_ns; "$SONDE" numamove -qj 10ms 1 --fields migrations; "$SONDE" numamove -q --csv 10ms 1 | head -n 1
NEEDS kprobe btf sym:migrate_pages
TIMEOUT 90
EXPECT
	NUMA_migrations NUMA_migrations_ms
	              0               0.00
	              0               0.00
	{"type": "row", "table": "moves", "interval": 1, "migrations": 0}
	time,migrations,duration_ns

# Guests have two nodes as the head of toolkernels.sh says.
NAME numamove: memory that another node uses
RUN
	see() { tool_sees 'python3 tests/progs/far.py 15' numamove "$@"; }
	see --fields migrations | grep -cE '^ *[1-9]' | sed 's/^[1-9][0-9]*$/some/'
	see -j | grep -c '"migrations": [1-9]' | sed 's/^[1-9][0-9]*$/some/'
	see --csv --fields migrations | grep -c '^[1-9]' | sed 's/^[1-9][0-9]*$/some/'
NEEDS slow kprobe btf vm cmd:python3 file:/sys/devices/system/node/node1/cpulist
TIMEOUT 120
EXPECT
	some
	some
	some

NAME mdflush: an array of two disks
RUN
	truncate -s 8M "$TMPDIR/1" "$TMPDIR/2"; a=$(/usr/sbin/losetup -f --show "$TMPDIR/1"); b=$(/usr/sbin/losetup -f --show "$TMPDIR/2")
	for f in '' -j --csv; do tool_sees 'python3 tests/progs/array.py "$TMPDIR/node" $a $b' mdflush -n python3 $f --fields comm,disk | uniq; rm "$TMPDIR/node"; done
	/usr/sbin/losetup -d $a $b
NEEDS kprobe btf vm cmd:python3 file:/dev/loop-control sym:md_flush_request sym:raid0_make_request
TIMEOUT 60
ALONE
EXPECT
	COMM             DEVICE
	python3          md77
	{"type": "event", "table": "flushes", "comm": "python3", "disk": "md77"}
	comm,disk
	python3,md77

NAME mdflush: without arrays one sentence
RUN "$SONDE" mdflush 2>&1 | grep -o "this kernel has no kprobe:md_flush_request"
NEEDS kprobe btf vm
EXPECT
	this kernel has no kprobe:md_flush_request

NAME undump: what is received from UNIX sockets
RUN
	p='import socket; a, b = socket.socketpair(); a.send(b"stream\n"); b.recv(100); a, b = socket.socketpair(type=socket.SOCK_DGRAM); a.send(b"datagram"); b.recv(100)'
	for f in '' -j --csv; do "$SONDE" undump -q $f --fields comm,bytes,data --max-bytes 6 -- python3 -c "$p"; done
NEEDS slow kprobe btf cmd:python3
TIMEOUT 90
EXPECT
	COMM                SIZE DATA
	python3                7 stream
	python3                8 datagr
	{"type": "event", "table": "packets", "comm": "python3", "bytes": 7, "data": [115,116,114,101,97,109]}
	{"type": "event", "table": "packets", "comm": "python3", "bytes": 8, "data": [100,97,116,97,103,114]}
	comm,bytes,data
	python3,7,stream
	python3,8,datagr

# The root of guests comes through virtio.
NAME virtiostat: what goes through a device
RUN
	see() { tool_sees 'cat tests/run/*.t >/dev/null; ls -l /usr/lib >/dev/null' virtiostat "$@"; }
	see 1h --fields driver,device,in_buffers,out_buffers,in_bytes,out_bytes | awk '$1 ~ /^9pnet_virtio/ && $2 ~ /^virtio[0-9]/ { print ($3 > 0), ($4 > 0), ($5 > 0), ($6 > 0) }' | sort -u
	see -j 1h -d none; see -j 1h | grep -q '"driver": "9pnet_virtio"' && echo 1; see --csv 1h | sed -nE '1p; s/^9pnet_virtio,virtio[0-9]+,[^,]*(,[1-9][0-9]*){4}$/row/p' | uniq
NEEDS slow kprobe btf vm sym:virtqueue_add_sgs
TIMEOUT 90
EXPECT
	1 1 1 1
	1
	driver,device,queue,in_buffers,out_buffers,in_bytes,out_bytes
	row

NAME virtiostat: 256 buffers of a request are as many as the kernel's verifier goes through
RUN "$SONDE" --dry-run virtiostat 2>&1; echo $?
NEEDS kprobe btf vm sym:virtqueue_add_sgs
TIMEOUT 60
EXPECT
	0

NAME inject: on a kernel that does not let functions fail
RUN "$SONDE" --unsafe inject kmalloc -p $$ 2>&1 | grep -oE 'this kernel cannot let that fail|CONFIG_BPF_KPROBE_OVERRIDE' | head -n 1
NEEDS kprobe vm
EXPECT_RE
	this kernel cannot let that fail|CONFIG_BPF_KPROBE_OVERRIDE

NAME biopattern: a kernel without a loop over maps says so
RUN "$SONDE" --dry-run biopattern 2>&1 | grep -o 'iterating over a map needs bpf_for_each_map_elem (Linux 5.13), which this kernel lacks'
NEEDS kprobe vm before:5.13
EXPECT
	iterating over a map needs bpf_for_each_map_elem (Linux 5.13), which this kernel lacks

# Guests set frequencies as the head of toolkernels.sh says.
NAME cpufreq: frequencies that were set
RUN
	set_to() { for p in /sys/devices/system/cpu/cpufreq/policy*; do echo $1 >$p/scaling_max_freq; done; sleep 0.5; }
	see() { tool_sees 'set_to 2000000; set_to 1000000; set_to 2000000' cpufreq "$@"; }
	see | grep -E '^(MHz|\[[12]000, ).* [1-9]' | sed 's/).*/)/'
	see -j -P | grep -oE '"comm": "swapper/0"|"min": 1000, "max": 1199' | sort -u
	see --csv | sed -n '1p; s/^\([12]000,..99\),[1-9].*/\1/p'
NEEDS slow vm file:/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq
TIMEOUT 60
EXPECT
	[1000, 1200)
	[2000, 2200)
	"min": 1000, "max": 1199
	mhz_min,mhz_max,mhz_count
	1000,1199
	2000,2199
