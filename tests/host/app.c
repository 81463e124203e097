/* app.c - a program for compiler tests to name in uprobe and usdt probes; nothing runs it. */

#ifdef __x86_64__
/* What <sys/sdt.h> would make of DTRACE_PROBE2(app, step, n, text), with fixed registers. */
#define NOTE                                                               \
	"990: nop\n"                                                       \
	".pushsection .note.stapsdt, \"\", \"note\"\n"                     \
	".balign 4\n"                                                      \
	".4byte 992f - 991f, 994f - 993f, 3\n"                             \
	"991: .asciz \"stapsdt\"\n"                                        \
	"992: .balign 4\n"                                                 \
	"993: .8byte 990b, 0, 0\n"                                         \
	".asciz \"app\"\n.asciz \"step\"\n.asciz \"-4@%edi 8@16(%rsi)\"\n" \
	"994: .balign 4\n"                                                 \
	".popsection\n"
#else
#define NOTE "nop\n"
#endif

__attribute__((noinline)) int work(int n, const char *text)
{
	__asm__ volatile(NOTE);
	return n + text[0];
}

int main(int argc, char **argv)
{
	return work(argc, argv[0]);
}
