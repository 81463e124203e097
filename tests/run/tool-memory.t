# Tools about memory.

NAME shmsnoop: shared memory of System V
RUN
	p='import ctypes; l=ctypes.CDLL(None); i=l.shmget(0x50de, 8192, 0o1600); a=l.shmat; a.restype=ctypes.c_void_p; p=a(i,None,0); l.shmdt(ctypes.c_void_p(p)); l.shmctl(i,0,None); a(-1,None,0)'
	for f in '' -j --csv; do "$SONDE" shmsnoop -q $f --fields comm,syscall,key,bytes,flags,error -- python3 -c "$p"; done
NEEDS tp:syscalls/sys_exit_shmget cmd:python3
TIMEOUT 30
EXPECT
	COMM             SYS    KEY            SIZE FLAGS
	python3          shmget 0x50de         8192 01600
	python3          shmat  -                 - 0
	python3          shmdt  -                 - -
	python3          shmctl -                 - -
	python3          shmat  -                 - 0
	{"type": "event", "table": "calls", "comm": "python3", "syscall": "shmget", "key": 20702, "bytes": 8192, "flags": 896}
	{"type": "event", "table": "calls", "comm": "python3", "syscall": "shmat", "flags": 0}
	{"type": "event", "table": "calls", "comm": "python3", "syscall": "shmdt"}
	{"type": "event", "table": "calls", "comm": "python3", "syscall": "shmctl"}
	{"type": "event", "table": "calls", "comm": "python3", "syscall": "shmat", "flags": 0, "error": "EINVAL"}
	comm,syscall,key,bytes,flags,error
	python3,shmget,20702,8192,896,
	python3,shmat,,,0,
	python3,shmdt,,,,
	python3,shmctl,,,,
	python3,shmat,,,0,EINVAL
