# Tools about memory that is handed out, missing, or lost.

NAME memleak: what is left, by stack
RUN
	leak="$SONDE_TESTS/leak"
	"$SONDE" memleak -q -o 0 1h -- "$leak" | sed 's/^  *//; s/+[0-9]*@.*$//; /^$/d' | head -n 4
	"$SONDE" memleak -qj -o 0 --fields bytes,allocations 1h -- "$leak"
	"$SONDE" memleak -q --csv -o 0 --fields bytes,allocations 1h -- "$leak"
	"$SONDE" memleak -q --csv -o 0 -z 5000 --fields bytes 1h -- "$leak"
	"$SONDE" memleak -q --csv -o 1h --fields bytes 1h -- "$leak"
NEEDS slow uprobe prog:leak sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT
	BYTES  ALLOCATIONS
	40960           10
	leak
	main
	{"type": "row", "table": "stacks", "interval": 1, "bytes": 40960, "allocations": 10}
	bytes,allocations
	40960,10
	bytes
	bytes
	40960

NAME memleak: what is left, with its lines
RUN
	leak="$SONDE_TESTS/leak"
	"$SONDE" memleak -q 1h -- "$leak" mine | sed 's/+[0-9]*@.*progs/@progs/; /_start/d; /libc_start/d; s/  *\([0-9]\)/ \1/g'
NEEDS slow uprobe prog:leak sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT_RE
	       BYTES  ALLOCATIONS
	 40960 10
	        leak@progs/leak.c:[0-9]+
	        main@progs/leak.c:[0-9]+
	$
	 3000 3
	        my_malloc@progs/leak.c:[0-9]+
	        mine@.*progs/leak.c:[0-9]+.*
	        main@progs/leak.c:[0-9]+
	$

NAME memleak: pages, once, whoever asked for them
RUN
	leak="$SONDE_TESTS/leak"
	for o in '' '-z 10000' '-s 1000000000'; do "$SONDE" memleak -q --csv $o --fields bytes,allocations 1h -- "$leak" pages; done
	"$SONDE" memleak -q --csv -t --fields call,bytes 1h -- "$leak" pages | sed -n 's/^alloc,\(12288\|20480\|40960\|30000.\)$/&/p' | sort
NEEDS slow uprobe prog:leak sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT
	bytes,allocations
	300000,1
	40960,10
	12288,1
	5000,1
	3000,1
	bytes,allocations
	300000,1
	12288,1
	bytes,allocations
	alloc,12288
	alloc,20480
	alloc,300000
	alloc,300001

NAME memleak: each that is left, each call, one in many, of a command behind -c
RUN
	leak="$SONDE_TESTS/leak"
	"$SONDE" memleak -qj -a -o 0 --combined-only --wa-missing-free 1h -c "$leak" | grep -cE '"table": "left", "addr": [0-9]+, "bytes": 4096\}'
	"$SONDE" memleak -q --csv -t -o 0 --fields call,bytes 1h -- "$leak" | sed -n 's/^alloc,\(4096\|300\|512\)$/&/p; s/^free,$/&/p' | sort | uniq -c
	"$SONDE" memleak -q -s 1000000000 -o 0 1h -- "$leak" | grep -c .
	"$SONDE" memleak -q -o 0 --sort allocations 1h -- "$leak" | head -n 1
NEEDS slow uprobe prog:leak sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT_RE
	10
	     10 alloc,4096
	      1 alloc,512
	 +[0-9]+ free,
	0
	       BYTES  ALLOCATIONS

NAME memleak: functions of another library, by how their names begin
RUN
	leak="$SONDE_TESTS/leak"
	for o in '' -C
	do "$SONDE" memleak -q --csv -O "$leak" -S my_ -F $o -o 0 --fields bytes,allocations 1h -- "$leak" mine
	done
	"$SONDE" memleak -O "$leak" --symbols-prefix your_ -- "$leak" 2>&1 | sed "s|$leak|leak|g"
NEEDS slow uprobe prog:leak sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT
	bytes,allocations
	3000,3
	bytes,allocations
	3000,3
	ERROR: There is none of these probes: uprobe:leak:your_malloc, uprobe:leak:your_calloc, uprobe:leak:your_aligned_alloc, uprobe:leak:your_memalign ...

NAME memleak: of the kernel, what each CPU has a copy of
RUN
	see() { tool_sees 'mount -t tmpfs none "$TMPDIR"; umount "$TMPDIR"' memleak -P -o 0 -T 100000 "$@" 1h; }
	see -t --csv | sed -n 's/^[0-9]*,\(mount\),\(alloc\),[1-9][0-9]*,[1-9][0-9]*$/\1 \2/p; s/^[0-9]*,.*,free,[1-9][0-9]*,$/free/p' | sort -u
NEEDS slow tp:percpu/percpu_alloc_percpu sym:bpf_for_each_map_elem
TIMEOUT 60
EXPECT
	free
	mount alloc

NAME memleak: of the kernel, pipes that are open
RUN
	see() { tool_sees 'python3 -c "import os, time; p = [os.pipe() for i in range(200)]; print(1, flush=True); time.sleep(60)" >"$TMPDIR/py" & py=$!; until_written "$TMPDIR/py"' memleak -o 0 -T 100000 "$@" 1h
	kill $py
	rm "$TMPDIR/py"
	}
	see | grep -o ' alloc_pipe_info' | uniq; see -j | grep -cE '"bytes": [1-9][0-9]*, "allocations": [1-9][0-9]{2,}, "kstack": .*"alloc_pipe_info"' | sed 's/^[1-9]$/some/'
NEEDS slow tp:kmem/kmalloc cmd:python3 sym:bpf_for_each_map_elem
TIMEOUT 60
EXPECT
	 alloc_pipe_info
	some

NAME slabratetop: which caches hand out most
RUN
	see() { tool_sees 'sh -c "ls -lR /usr/lib >/dev/null"' slabratetop "$@" 1h; }
	see -r 2000 | grep -cE '^(filp|names_cache|dentry) +[1-9][0-9]* +[1-9]' | sed 's/^[1-3]$/some/'
	see -j -r 1 | grep -cE '"cache": "[^"]+", "allocs": [1-9][0-9]*, "bytes": [1-9]'
	see --csv -r 1 | sed -E 's/^[^,]+,[1-9][0-9]*,[1-9][0-9]*$/row/'
NEEDS btf tp:kmem/kmem_cache_alloc fast
TIMEOUT 30
EXPECT
	some
	1
	cache,allocs,bytes
	row

NAME compactsnoop: who moves pages together
RUN
	see() { tool_sees 'echo 1 >/proc/sys/vm/compact_memory' compactsnoop "$@"; }
	see --fields comm,status | grep -cE '^[a-z]+ +COMPACT_[A-Z]+' | sed 's/^[1-9][0-9]*$/some/'
	see -j --fields status | grep -c '"status": "COMPACT_' | sed 's/^[1-9][0-9]*$/some/'
	see --csv --fields status,sync | sed -E 's/^COMPACT_[A-Z]+,[a-z01-9]+$/some/' | uniq
	see -K | grep -o ' sysctl_compaction_handler' | uniq
NEEDS tp:compaction/mm_compaction_begin btf
TIMEOUT 60
EXPECT
	some
	some
	status,sync
	some
	 sysctl_compaction_handler

NAME compactsnoop -e: for what, in which zone
RUN
	see() { tool_sees 'echo 1 >/proc/sys/vm/compact_memory' compactsnoop -e "$@"; }
	see -j --fields node,zone,order,min_pages,low_pages,high_pages,free_pages >"$TMPDIR/o"; sed -n '/zone/{s/: [0-9][0-9]*/: N/g; s/"[A-Z][A-Za-z0-9]*"/ZONE/; p; q; }' "$TMPDIR/o"
	awk -F'[:,} ]+' '/min_pages/ { for (i = 1; i <= NF; i++) v[$i] = $(i + 1); if (!(v["\"min_pages\""] < v["\"low_pages\""] && v["\"low_pages\""] < v["\"high_pages\""] && v["\"order\""] == -1)) print }' "$TMPDIR/o" |
		head -n 1
NEEDS tp:compaction/mm_compaction_begin btf since:6.1
TIMEOUT 60
EXPECT
	{"type": "event", "table": "runs", "node": N, "zone": ZONE, "order": -1, "min_pages": N, "low_pages": N, "high_pages": N, "free_pages": N}

NAME oomkill: who is killed
RUN
	g=/sys/fs/cgroup/memory/sonde-test-$$; mkdir "$g" && echo 20M >"$g/memory.limit_in_bytes"
	see() { tool_sees 'sh -c "echo \$\$ >$g/cgroup.procs; exec python3 -c \"x = b\\\"a\\\" * 60000000\""' oomkill "$@" 2>/dev/null | grep -E 'python3|VICTIM|comm'; }
	see --fields comm,victim_comm,oom_score_adj; see -j --fields comm,victim_comm; see --csv --fields comm,victim_comm
	rmdir "$g"
NEEDS tp:oom/mark_victim file:/sys/fs/cgroup/memory/memory.limit_in_bytes cmd:python3
TIMEOUT 30
EXPECT
	COMM             VICTIM             ADJ
	python3          python3              0
	{"type": "event", "table": "kills", "comm": "python3", "victim_comm": "python3"}
	comm,victim_comm
	python3,python3

NAME drsnoop: who has to free memory first
RUN
	g=/sys/fs/cgroup/memory/sonde-test-$$; mkdir "$g" && echo 20M >"$g/memory.limit_in_bytes"
	see() { tool_sees 'sh -c "echo \$\$ >$g/cgroup.procs; dd if=/dev/zero of=$TMPDIR/big bs=1M count=60 2>/dev/null; rm $TMPDIR/big"' drsnoop -g "$@"; }
	see --fields comm,pages,kind | grep -cE '^dd +[0-9]+ cgroup' | sed 's/^[1-9][0-9]*$/some/'
	see -j -n dd --fields duration_ns,kind | grep -c '"duration_ns": [1-9][0-9]*, "kind": "cgroup"' |
		sed 's/^[1-9][0-9]*$/some/'
	see --csv -n dd --fields comm,kind | uniq
	see -e -n dd --fields free_bytes,kind | awk 'NR == 1 { print } NR == 2 { print ($1 > 0) }'
	rmdir "$g"
NEEDS tp:vmscan/mm_vmscan_memcg_reclaim_begin file:/sys/fs/cgroup/memory/memory.limit_in_bytes
TIMEOUT 60
EXPECT
	some
	some
	comm,kind
	dd,cgroup
	 FREE_MB KIND
	1
