# The examples of contrib/metrics that need kprobes: each attaches, and counts what was done.

NAME examples of metrics: connections, queues, ICMP and fragments
NEEDS slow kprobe btf vm cmd:python3 cmd:ip
TIMEOUT 60
RUN
	py() { python3 -c "import os, socket, struct, time
	$1"; }
	tcp() { py 's = socket.create_server(("127.0.0.1", 0)); c = [socket.create_connection(s.getsockname()) for i in range(3)]; [s.accept() for i in c]'; }
	full() { py 's = socket.create_server(("127.0.0.1", 0), backlog=1)
	c = [socket.socket() for i in range(9)]
	for x in c: x.setblocking(False); x.connect_ex(s.getsockname())'; }
	ux() { py 's = socket.socket(socket.AF_UNIX); s.bind("\0metrics"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect("\0metrics"); s.accept()'; }
	ping() { py 's = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); s.sendto(struct.pack("!BBHHH", 8, 0, 0xf7ff, 0, 0), ("127.0.0.1", 0)); s.recv(100)'; }
	large() { ip link set lo mtu 1500; py 's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); s.sendto(bytes(8000), s.getsockname()); s.recv(9000)'; }
	example_counts accept-latency '\|@+' tcp
	example_counts syn-backlog '\|@+' full
	example_counts unix-backlog '\|@+' ux
	example_counts unix-accept-latency '\|@+' ux
	example_counts icmp '^@\[8\]: [1-9]' ping
	example_counts fragments '^@: [1-9]' large
EXPECT
	accept-latency
	syn-backlog
	unix-backlog
	unix-accept-latency
	icmp
	fragments

NAME examples of metrics: page cache, PCI, memory of programs
NEEDS slow kprobe btf vm file:/sys/bus/pci/rescan
TIMEOUT 60
RUN
	reads() { head -c 3000000 /dev/zero >$TMPDIR/big; cat $TMPDIR/big $TMPDIR/big >/dev/null; }
	rescan() { echo 1 >/sys/bus/pci/rescan; }
	example_counts cachestat '^@added: [1-9]|^@all: [1-9]' reads
	example_counts pci-config '^@\[[124]\]: [1-9]' rescan
	"$SONDE" --for 5s contrib/metrics/bpf-jit.bt 2>/dev/null | grep -cE '^@size: [1-9]'
EXPECT
	cachestat
	pci-config
	1

NAME examples of metrics: a control group that is throttled
NEEDS slow kprobe btf vm file:/sys/fs/cgroup
TIMEOUT 60
RUN
	mkdir -p $TMPDIR/cg; mount -t cgroup2 none $TMPDIR/cg || exit
	echo +cpu >$TMPDIR/cg/cgroup.subtree_control && slow=$TMPDIR/cg/slow$$ && mkdir $slow && echo "5000 100000" >$slow/cpu.max || exit
	"$SONDE" contrib/metrics/cfs-throttling.bt >$TMPDIR/out 2>$TMPDIR/err & pid=$!
	until_attached $TMPDIR/err
	sh -c "echo \$\$ >$slow/cgroup.procs; i=0; while [ \$i -lt 5000 ]; do i=\$((i + 1)); done"
	kill -INT $pid; wait $pid
	grep -cE '^@n\[.*\]: [1-9]' $TMPDIR/out; grep -cE '^@ns\[' $TMPDIR/out
	rmdir $slow; umount $TMPDIR/cg
EXPECT
	1
	1

NAME examples of metrics: ext4
ALONE
RUN on_disk ext4 16M 'metrics_of ext4'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:mkfs.ext4 module:ext4 sym:ext4_file_read_iter
TIMEOUT 120
EXPECT
	ext4: read
	ext4: write
	ext4: fsync

NAME examples of metrics: XFS
ALONE
RUN on_disk xfs 320M 'metrics_of xfs; example_of xfs-reclaim "echo 2 >/proc/sys/vm/drop_caches"; grep -F "@ns[count]" "$TMPDIR/out"'
NEEDS slow kprobe btf vm file:/dev/loop-control cmd:mkfs.xfs module:xfs sym:xfs_file_read_iter
TIMEOUT 120
EXPECT
	xfs: read
	xfs: write
	xfs: fsync
	@ns[count]:
