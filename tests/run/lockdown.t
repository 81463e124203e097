# On a kernel that was booted with lockdown=confidentiality: `make vm` does that.

NAME what works all the same
RUN
	for s in 'begin { print("begin"); exit(); }' 'rawtracepoint:sched_switch { print("raw"); exit(); }' 'kprobe:vfs_read { print("kprobe"); exit(); }' 'fexit:vfs_read { print("fexit"); exit(); }' 'profile:hz:99 { print("profile"); exit(); }' 'rawtracepoint:sched_switch { print(curtask.tgid == pid); exit(); }' 'iter:task { print("iter"); exit(); }'
	do "$SONDE" -q -c "sleep 8" -e "$s" 2>&1 | head -n 1
	done
NEEDS lockdown kprobe btf
TIMEOUT 40
EXPECT
	begin
	raw
	kprobe
	fexit
	profile
	true
	iter

NAME tracepoints
PROG tracepoint:sched:sched_switch { exit(); }
NEEDS lockdown
RC 1
EXPECT
ERR
	stdin:1:1-30: ERROR: tracefs is empty, as the kernel is locked down (confidentiality), until it boots without that; rawtracepoint, kprobe, fentry and user probes work without tracefs
	tracepoint:sched:sched_switch { exit(); }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME kernel memory by address
PROG rawtracepoint:sched_switch { print(*kptr((uint64*)curtask)); exit(); }
NEEDS lockdown btf
RC 255
EXPECT
ERR
	stdin:1:36-59: ERROR: a function is not allowed in this kind of probe
	rawtracepoint:sched_switch { print(*kptr((uint64*)curtask)); exit(); }
	                                   ~~~~~~~~~~~~~~~~~~~~~~~
	HINT: the kernel is locked down (confidentiality) and lets no program read its memory by address; fields of typed arguments and curtask can be read

NAME children are followed
RUN "$SONDE" -q --follow -c 'sh -c "build/tests/syscalls 3 lseek & build/tests/syscalls 5 lseek"' -e 'rawtracepoint:sys_enter /args.id == 8 && comm == "syscalls"/ { @ = count(); }'
NEEDS lockdown btf prog:syscalls
TIMEOUT 20
EXPECT
	$
	$
	@: 8

NAME info tells it
RUN "$SONDE" info | grep -E '^  (lockdown|tracefs|tracepoint)' | cut -c 1-88; "$SONDE" info --json | grep lockdown
NEEDS lockdown
EXPECT
	  tracefs: tracefs is empty, as the kernel is locked down (confidentiality), until it bo
	  lockdown: confidentiality
	  tracepoint     no      tracepoint:category:event (tracefs is empty, as the kernel is l
	  "lockdown": "confidentiality",
