# Fields of tracepoints that run as typed raw tracepoints are those that the perf event shows, on this kernel.

NAME sched
RUN f() { sh tests/kernel/forms.sh "$@"; }
	f sched:sched_switch 'pid == cpid' 'prev_comm prev_pid prev_prio next_comm next_pid next_prio' build/tests/syscalls 30 nanosleep
	f sched:sched_stat_runtime 'pid == cpid' 'pid runtime' build/tests/syscalls 30 nanosleep
	f sched:sched_wakeup 'args.pid == cpid' 'comm pid prio target_cpu' build/tests/syscalls 30 nanosleep
	f sched:sched_waking 'args.pid == cpid' 'comm pid prio target_cpu' build/tests/syscalls 30 nanosleep
	f sched:sched_wakeup_new 'pid == cpid' 'comm pid prio target_cpu' build/tests/threads 5
NEEDS btf tracefs
TIMEOUT 60
EXPECT
	sched:sched_switch: same
	sched:sched_stat_runtime: same
	sched:sched_wakeup: same
	sched:sched_waking: same
	sched:sched_wakeup_new: same

NAME processes
RUN f() { sh tests/kernel/forms.sh "$@"; }
	f sched:sched_process_exec 'pid == cpid' 'str(filename) pid old_pid' build/tests/syscalls 1
	f sched:sched_process_exit 'pid == cpid' 'comm pid prio' build/tests/threads 3
	f sched:sched_process_fork 'pid == cpid' 'parent_pid child_pid' build/tests/threads 5
	f task:task_newtask 'pid == cpid' 'comm pid clone_flags oom_score_adj' build/tests/threads 5
	f signal:signal_generate 'pid == cpid' 'sig comm pid group result' sh -c '"kill -0 \$\$; kill -WINCH \$\$"'
	f signal:signal_deliver 'pid == cpid' 'sig sa_handler sa_flags' sh -c '"trap : USR1; kill -USR1 \$\$"'
NEEDS btf tracefs
TIMEOUT 60
EXPECT
	sched:sched_process_exec: same
	sched:sched_process_exit: same
	sched:sched_process_fork: same
	task:task_newtask: same
	signal:signal_generate: same
	signal:signal_deliver: same

# The names of threads are arrays here and text behind the event there.
NAME names of older kernels
RUN f() { sh tests/kernel/forms.sh "$@"; }
	grep -q 'char parent_comm' /sys/kernel/tracing/events/sched/sched_process_fork/format &&
		f sched:sched_process_fork 'pid == cpid' 'parent_comm child_comm' build/tests/threads 5 ||
		f sched:sched_process_fork 'pid == cpid' 'str(parent_comm) str(child_comm)' build/tests/threads 5
NEEDS btf tracefs
TIMEOUT 30
EXPECT
	sched:sched_process_fork: same

NAME interrupts and timers
RUN f() { sh tests/kernel/forms.sh "$@"; }
	for e in entry exit raise; do f irq:softirq_$e all vec build/tests/syscalls 100 nanosleep; done
	f timer:hrtimer_expire_entry all 'hrtimer function' build/tests/syscalls 50 nanosleep
	f timer:hrtimer_expire_exit all 'hrtimer' build/tests/syscalls 50 nanosleep
	f timer:timer_expire_entry all 'timer function' sleep 0.3
	for e in expire_exit cancel; do f timer:timer_$e all 'timer' sleep 0.3; done
	f power:cpu_idle all 'state cpu_id' sleep 0.5 | tail -1 # a busy machine may not idle
NEEDS btf tracefs
TIMEOUT 60
ALONE
EXPECT
	irq:softirq_entry: same
	irq:softirq_exit: same
	irq:softirq_raise: same
	timer:hrtimer_expire_entry: same
	timer:hrtimer_expire_exit: same
	timer:timer_expire_entry: same
	timer:timer_expire_exit: same
	timer:timer_cancel: same
	power:cpu_idle: same

NAME work queues
RUN sh tests/kernel/forms.sh workqueue:workqueue_execute_start all 'work function' build/tests/run /usr/bin/python3 -I tests/progs/terminal.py 50
	sh tests/kernel/forms.sh workqueue:workqueue_execute_end all 'work function' build/tests/run /usr/bin/python3 -I tests/progs/terminal.py 50
NEEDS btf tracefs file:/usr/bin/python3
TIMEOUT 30
ALONE
EXPECT
	workqueue:workqueue_execute_start: same
	workqueue:workqueue_execute_end: same

NAME faults and memory
RUN f() { sh tests/kernel/forms.sh "$@"; }
	f exceptions:page_fault_user 'pid == cpid' 'address ip error_code' build/tests/faults
	f kmem:kmalloc 'pid == cpid' 'call_site ptr bytes_req bytes_alloc gfp_flags' build/tests/open /etc/passwd
	f kmem:kmem_cache_alloc 'pid == cpid' 'call_site ptr' build/tests/open /etc/passwd
	f kmem:kfree 'pid == cpid' 'call_site ptr' build/tests/open /etc/passwd
	f kmem:kmem_cache_free 'pid == cpid' 'call_site ptr' build/tests/open /etc/passwd
	f kmem:mm_page_alloc 'pid == cpid' 'order gfp_flags migratetype' build/tests/faults
	f kmem:mm_page_free 'pid == cpid' 'order' build/tests/faults
NEEDS slow btf tracefs tp:exceptions/page_fault_user
TIMEOUT 60
EXPECT
	exceptions:page_fault_user: same
	kmem:kmalloc: same
	kmem:kmem_cache_alloc: same
	kmem:kfree: same
	kmem:kmem_cache_free: same
	kmem:mm_page_alloc: same
	kmem:mm_page_free: same

NAME packets
RUN [ -e /sys/class/net/lo ] && ip link set lo up
	f() { sh tests/kernel/forms.sh "$@" bash -c '"for i in 1 2 3; do echo x >/dev/udp/127.0.0.1/9; sleep 0.05; done"'; }
	f net:netif_receive_skb all 'skbaddr len str(name)'
	f net:net_dev_queue all 'skbaddr len str(name)'
	f skb:consume_skb all 'skbaddr'
	f skb:kfree_skb all 'skbaddr location'
	f napi:napi_poll all 'napi work budget'
NEEDS btf tracefs cmd:bash cmd:ip
TIMEOUT 60
ALONE
EXPECT
	net:netif_receive_skb: same
	net:net_dev_queue: same
	skb:consume_skb: same
	skb:kfree_skb: same
	napi:napi_poll: same

NAME system calls by raw_syscalls
RUN sh tests/kernel/forms.sh raw_syscalls:sys_enter 'pid == cpid' id build/tests/syscalls 30 mixed
	sh tests/kernel/forms.sh raw_syscalls:sys_exit 'pid == cpid' 'id ret' build/tests/syscalls 30 kill
NEEDS btf tracefs before:7.2
TIMEOUT 30
EXPECT
	raw_syscalls:sys_enter: same
	raw_syscalls:sys_exit: same

# A field that is no plain function of the arguments keeps the whole body on the perf event.
NAME states stay with the perf event
RUN
	"$SONDE" -q -c "sh -c 'grep -c tp_name /proc/\$PPID/fdinfo/* | grep -c :1; exec build/tests/syscalls 30 nanosleep'" -e 'tracepoint:sched:sched_switch /args.prev_state != 0 && args.prev_pid == cpid && comm == "syscalls"/ { @ = count(); }
		end { print(@ >= 1); clear(@); }' | grep .
EXPECT
	0
	true
NEEDS btf

NAME loops, tuples and texts
PROG tracepoint:sched:sched_process_exit /pid == cpid/ { $t = (args.pid == pid, args.comm, args.comm == "syscalls"); for $i : 0..40 { @[$t.1, $i / 40, args.comm] = count(); } printf("%s %s\n", args.comm, $t.2 ? "yes" : "no"); }
LOAD syscalls 1
NEEDS btf
EXPECT
	syscalls yes
	$
	$
	@[syscalls, 0, syscalls]: 40
