/*
 * machine N: a virtual machine of KVM whose program writes N times to a port, and halts. "N 1" when it did.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "written for x86_64"
#endif

/* mov ecx, N; again: out 0x10, al; loop again; hlt */
static unsigned char code[] = {0xb9, 0, 0, 0, 0, 0xe6, 0x10, 0xe2, 0xfc, 0xf4};

/* In protected mode: what a processor begins with, some only emulate. */
static int give(int cpu)
{
	struct kvm_segment all = {.limit = ~0u, .type = 3, .present = 1, .db = 1, .s = 1, .g = 1};
	struct kvm_regs regs = {.rip = 0x1000, .rflags = 2};
	struct kvm_sregs sregs;

	if (ioctl(cpu, KVM_GET_SREGS, &sregs))
		return -1;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = sregs.cs = all;
	sregs.cs.type = 11;
	sregs.cr0 |= 1;
	return ioctl(cpu, KVM_SET_SREGS, &sregs) ? -1 : ioctl(cpu, KVM_SET_REGS, &regs);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1;
	int kvm = open("/dev/kvm", O_RDWR), vm = ioctl(kvm, KVM_CREATE_VM, 0),
	    cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {.memory_size = 65536,
						     .userspace_addr = (unsigned long)memory};
	struct kvm_run *run = mmap(NULL, (size_t)ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0),
				   PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	long outs = 0;

	memcpy(code + 1, &(int){(int)n}, sizeof(int));
	memcpy(memory + 0x1000, code, sizeof code);
	if (cpu < 0 || run == MAP_FAILED || ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) ||
	    give(cpu)) {
		perror("machine");
		return 1;
	}
	while (!ioctl(cpu, KVM_RUN, 0) && run->exit_reason == KVM_EXIT_IO)
		outs++;
	printf("%ld %d\n", outs, run->exit_reason == KVM_EXIT_HLT);
	return 0;
}
